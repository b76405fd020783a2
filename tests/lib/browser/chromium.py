"""A headless Chromium, asked through a pipe (the DevTools protocol): what a page has come to, what keys do to it.

Chromium reads commands at descriptor 3 and answers at 4, each a JSON text with a NUL behind it.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def program():
    """The path of an installed one, or None."""
    return shutil.which('chromium') or shutil.which('chromium-browser')


class Chromium:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix='chromium-')
        to_read, self.to = os.pipe()
        self.of, to_write = os.pipe()
        command = [program(), '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-extensions',
                   '--disable-background-networking', f'--user-data-dir={self.profile}', '--remote-debugging-pipe', 'about:blank']

        def pipes():
            # Not on each other: both are copied out of the way first.
            read, write = os.dup(to_read), os.dup(to_write)
            high = 100
            os.dup2(read, high), os.dup2(write, high + 1)
            os.dup2(high, 3), os.dup2(high + 1, 4)

        self.process = subprocess.Popen(command, preexec_fn=pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env={**os.environ, 'HOME': self.profile})
        os.close(to_read)
        os.close(to_write)
        self.rest, self.n, self.events, self.session = b'', 0, [], None
        target = self.ask('Target.createTarget', url='about:blank')['targetId']
        self.session = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.ask(f'{domain}.enable')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.of)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b'\0' not in self.rest:
            more = os.read(self.of, 1 << 20)
            if not more:
                raise SystemExit('Chromium ended')
            self.rest += more
        text, _, self.rest = self.rest.partition(b'\0')
        return json.loads(text)

    def ask(self, method, **parameters):
        self.n += 1
        command = {'id': self.n, 'method': method, 'params': parameters}
        if self.session:
            command['sessionId'] = self.session
        data = json.dumps(command).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        while (message := self.message()).get('id') != self.n:
            self.events.append(message)
        if 'error' in message:
            raise SystemExit(f'{method}: {message["error"]}')
        return message['result']

    def wait_for(self, method):
        while not any(event['method'] == method for event in self.events):
            self.events.append(self.message())

    def open(self, path):
        self.events.clear()
        self.ask('Page.navigate', url=f'file://{path}')
        self.wait_for('Page.loadEventFired')

    def size(self, width, height):
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, media='', **features):
        """media('print'), media(prefers_color_scheme='dark')"""
        self.ask('Emulation.setEmulatedMedia', media=media, features=[{'name': k.replace('_', '-'), 'value': v} for k, v in features.items()])

    def do(self, script):
        """The value of an expression on the page."""
        result = self.ask('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise SystemExit(f'{script}: {result["exceptionDetails"]["exception"].get("description")}')
        return result['result'].get('value')

    def press(self, *keys):
        for key in keys:
            text = key if len(key) == 1 else '\r' if key == 'Enter' else ''
            codes = {'Enter': 13, 'Escape': 27, 'Tab': 9, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40, 'End': 35, 'Home': 36}
            code = {'windowsVirtualKeyCode': codes[key]} if key in codes else {}
            self.ask('Input.dispatchKeyEvent', type='keyDown', key=key, text=text, **code)
            self.ask('Input.dispatchKeyEvent', type='keyUp', key=key, **code)

    def wrong(self):
        """What was told on the console, and what was asked for besides the page itself."""
        found = [event['params']['exceptionDetails'] for event in self.events if event['method'] == 'Runtime.exceptionThrown']
        found += [event['params']['entry']['text'] for event in self.events if event['method'] == 'Log.entryAdded']
        asked = [event['params']['request']['url'] for event in self.events if event['method'] == 'Network.requestWillBeSent']
        return found + asked[1:]

    def picture(self, path):
        """Of the whole page."""
        box = self.ask('Page.getLayoutMetrics')['cssContentSize']
        data = self.ask('Page.captureScreenshot', captureBeyondViewport=True, clip={'x': 0, 'y': 0, 'width': box['width'], 'height': box['height'], 'scale': 1})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data['data']))
