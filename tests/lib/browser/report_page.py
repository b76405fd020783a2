#!/usr/bin/env python3
"""report_page.py PAGE EMPTY [PICTURES]

Looks at a page of kinfs report in a browser: what is drawn is what is in its data, at three widths, light and dark, printed, and by keys;
its text can be read; it asks nobody for anything. EMPTY is one of a tree without clusters. PICTURES is a directory where pictures go.
"""
import json
import subprocess
import sys

from browser.chromium import Chromium

WIDTHS = (390, 1024, 1600)
SHOWN = {code: f'\\u{code:x}' for code in (*range(0x202a, 0x202f), *range(0x2066, 0x206a))}

# The contrast of each text with what is behind it, as WCAG 2.2 computes it; of a number in a circle with that.
CONTRASTS = r'''(() => {
    const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const canvas = (color) => { const [r, g, b, a = 1] = parse(color); return {rgb: [r, g, b], a}; };
    const linear = (c) => c <= 10.31475 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const circle = node.matches('.node') && node.querySelector('circle');
            const color = canvas(circle ? getComputedStyle(circle).fill : getComputedStyle(node).backgroundColor);
            if (color.a === 1)
                return color.rgb;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const node of document.querySelectorAll('body *')) {
        const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!hasText || !node.getClientRects().length || node.closest('script, style, title, noscript'))
            continue;
        const style = getComputedStyle(node);
        const [a, b] = [light(canvas(node.namespaceURI.endsWith('svg') ? style.fill : style.color).rgb), light(behind(node))];
        found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.tagName, node.textContent.slice(0, 40)]);
    }
    return found.sort((a, b) => a[0] - b[0]);
})()'''


def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f'{what}: expected {wanted!r}, got {got!r}')


def texts(page, selector):
    return page.do(f'[...document.querySelectorAll({selector!r})].map((node) => node.textContent)')


def look_at_summary(page, data):
    documents, size, *rest = data['all']
    lead = page.do('document.getElementById("lead").textContent')
    expect('the lead has the number of near-duplicates', True, f'{sum(rest[:2]):,} document' in lead)
    expect('kinds', [f'{n:,} document{"s" * (n != 1)}' for n in rest[:3]],
           page.do('[...document.querySelectorAll("#kinds dd:not(.quiet)")].map((dd) => dd.textContent.split(" in ")[1])'))
    widths = page.do('[...document.querySelectorAll("#all-bar .bar > div")].map((part) => part.offsetWidth / part.parentElement.offsetWidth)')
    for drawn, n in zip(widths, rest[3:]):
        expect('a part of the bar', True, abs(drawn - n / size) < 0.01)


def look_at_tree(page):
    """Each row costs what its data says; arrows open and close it."""
    rows = 'document.querySelectorAll("#directories tbody tr")'
    before = page.do(f'{rows}.length')
    expect('the root is first', 'all', page.do(f'{rows}[0].cells[0].querySelector("span").lastChild.textContent'))
    page.do(f'{rows}[0].focus()')
    page.press('ArrowLeft')
    expect('closed', [1, 'false'], page.do(f'[{rows}.length, {rows}[0].ariaExpanded]'))
    expect('the row has the focus still', True, page.do(f'document.activeElement === {rows}[0]'))
    page.press('ArrowRight')
    expect('opened', before, page.do(f'{rows}.length'))
    page.press('ArrowRight', 'ArrowDown')
    expect('two further', 2, page.do(f'[...{rows}].indexOf(document.activeElement)'))
    page.press('Home')
    expect('the first', 0, page.do(f'[...{rows}].indexOf(document.activeElement)'))
    expect('rows that Tab reaches', 1, page.do('document.querySelectorAll("#directories tbody tr[tabindex=\\"0\\"]").length'))


def look_at_sorting(page, data):
    for column, values in (('Documents', [row['cost'][0] for row in data['clusters']['rows']]),
                           ('Least resemblance', [row['resemblance_min'] for row in data['clusters']['rows']])):
        head = f'[...document.querySelectorAll("#clusters th")].find((th) => th.textContent.startsWith("{column}"))'
        cells = f'[...document.querySelectorAll("#clusters tbody tr")].map((row) => Number(row.cells[{head}.cellIndex].textContent))'
        page.do(f'{head}.firstChild.click()')
        expect(f'by {column}', ['descending', sorted(values, reverse=True)], page.do(f'[{head}.ariaSort, {cells}]'))
        page.do(f'{head}.firstChild.click()')
        expect(f'by {column}, turned', ['ascending', sorted(values)], page.do(f'[{head}.ariaSort, {cells}]'))


def look_at_search(page, data):
    def found():
        return page.do('document.querySelectorAll("#clusters tbody tr").length')
    wanted = next(row for row in data['clusters']['rows'] if any('/' in member['path'] for member in row['members']))
    path = next(member['path'] for member in wanted['members'] if '/' in member['path'])
    page.do('document.activeElement.blur()')
    page.press('/')
    expect('/ goes to the search', 'search', page.do('document.activeElement.id'))
    page.ask('Input.insertText', text=path.upper())
    matching = sum(any(path.lower() in member['path'].lower() for member in row['members']) for row in data['clusters']['rows'])
    expect('clusters that are found', matching, found())
    page.press('Escape')
    expect('all again', [len(data['clusters']['rows']), ''], [found(), page.do('document.getElementById("search").value')])
    page.do('document.getElementById("search").focus()')
    page.ask('Input.insertText', text='no such path')
    expect('none', [0, 0], [found(), page.do('document.querySelectorAll("#directories tbody tr").length')])
    page.press('Escape')


def look_at_cluster(page, data, row, threshold):
    """Chosen by Enter: as many dots, lines and cells as there are, and a pair that keys go on to."""
    n, pairs = len(row['members']), row['pairs']
    index = data['clusters']['rows'].index(row)
    page.do(f'document.querySelectorAll("#clusters tbody tr")[{index}].focus()')
    page.press('Enter')
    expect('the chosen row', 'true', page.do(f'document.querySelectorAll("#clusters tbody tr")[{index}].ariaSelected'))
    expect('the title', [f'Cluster {row["cluster"]}: {row["representative"].translate(SHOWN)}', 'cluster-title'],
           page.do('[document.getElementById("cluster-title").textContent, document.activeElement.id]'))
    expect('dots, lines, cells, dots in time, documents',
           [n, sum(pair >= threshold * 10000 for pair in pairs), n * n, n, n],
           [page.do(f'document.querySelectorAll("{what}").length')
            for what in ('#graph .node', '#graph .link', '#matrix .cell', '#times .node', '#members tbody tr')])
    expect('paths', [member['path'].translate(SHOWN) for member in row['members']], texts(page, '#members tbody tr td:last-child'))
    # A document that is chosen is the second of the pair.
    page.do('document.querySelectorAll("#members tbody tr")[0].focus()')
    page.press('ArrowDown', 'Enter')
    title = page.do('document.getElementById("pair-title").textContent')
    expect('the pair', True, title.startswith('Documents 1 and 2: ') and ('equal' if pairs[0] == 10000 else f'{pairs[0] / 10000:.4f}') in title)
    passages = next((told for told in data['passages']['rows'] if told['cluster'] == row['cluster']), None)
    if passages:
        page.do(f'document.querySelectorAll("#members tbody tr")[{passages["member"]}].click()')
        expect('passages', [[passage[side]['text'] for side in 'ab'] for passage in passages['passages']],
               page.do('[...document.querySelectorAll("#pair .sides")].map((row) => [...row.querySelectorAll("pre")].map((pre) => pre.textContent))'))
        expect('strips', len(passages['runs']), page.do('document.querySelectorAll("#pair polygon").length'))
    # Of so many cells and lines one has its title, with two paths, when it is pointed to, and one only.
    for what, first in (('#matrix .cell', row['order'][0]), ('#graph .link', None)):
        cells = f'[...document.querySelectorAll("{what}")]'
        expect(f'{what}: titles', 0, page.do(f'{cells}.filter((cell) => cell.firstChild).length'))
        page.do(f'{{ for (let i = 0; i < 2; i++) {cells}[0].dispatchEvent(new PointerEvent("pointerenter")); }}')
        titles = page.do(f'{cells}.flatMap((cell) => [...cell.querySelectorAll("title")].map((title) => title.textContent))')
        expect(f'{what}: one title', 1, len(titles))
        if first is not None:
            line = f'{first + 1} {row["members"][first]["path"].translate(SHOWN)}\n'
            expect('the title of a cell', f'{line}{line}1.0000', titles[0])
    page.do('document.querySelector("#matrix svg").focus()')
    page.press('ArrowRight', 'ArrowDown')
    a = row['order'][1] + 1
    expect('along the matrix', f'Document {a}', page.do('document.getElementById("pair-title").textContent'))


def look_at_commands(page):
    """What a shell is to be given has no character that is not shown, and is taken by it as it was meant."""
    given = 'explainCommand({path: %s}, {path: "b"})'
    source = page.do('DATA.about.source')
    expect('a command', True, page.do(given % '"it\'s \\u00a0\\u0100"').endswith("/it'\\''s \u00a0\u0100' '" + source + "/b'"))
    for code in [*range(1, 0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)]:
        name = f"it's \\{chr(code)}1"
        command = page.do(given % json.dumps(name))
        expect(f'{code:x}: not shown', False, chr(code) in command)
        words = subprocess.run(['bash', '-c', command.replace('kinfs', 'printf %s\\\\0', 1)], capture_output=True, check=True).stdout
        expect(f'{code:x}: what a shell makes of it', f'explain\0{source}/{name}\0{source}/b\0', words.decode())
    expect('no command', None, page.do('explainCommand({path: "a", path_bytes: "YQ=="}, {path: "b"})'))


def look_at_sizes(page, path, pictures):
    for width in WIDTHS:
        for scheme in ('light', 'dark'):
            page.size(width, 900)
            page.media(prefers_color_scheme=scheme)
            page.open(path)
            expect(f'{width} pixels: nothing to the right', True, page.do('document.documentElement.scrollWidth <= innerWidth'))
            expect('what is wrong', [], page.wrong())
            contrasts = page.do(CONTRASTS)
            expect('texts are looked at', True, len(contrasts) > 100)
            expect(f'{scheme}: can be read', [], [text for text in contrasts if text[0] < 4.5])
            if pictures:
                page.picture(f'{pictures}/{width}-{scheme}.png')
    page.do('document.getElementById("theme").click()')
    expect('light at last', 'rgb(255, 255, 255)', page.do('getComputedStyle(document.body).backgroundColor'))
    page.do('document.getElementById("theme").click()')
    page.media('print')
    expect('printed', ['rgb(255, 255, 255)', 'none'],
           page.do('[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".tools")).display]'))
    for moves, expected in (('reduce', 'auto'), ('no-preference', 'smooth')):
        page.media(prefers_reduced_motion=moves)
        expect(f'motion: {moves}', expected, page.do('getComputedStyle(document.documentElement).scrollBehavior'))


def look_at_turned(page):
    """A name that would turn a line round is shown by what does it."""
    given = f'{{}}, String.fromCharCode({", ".join(map(str, SHOWN))})).textContent'
    expect('what turns', [''.join(SHOWN.values())] * 2, [page.do(f'{made}, {given}') for made in ('element("p"', 'drawn("text"')])
    expect('a name that turns', [True, False], [page.do(f'document.body.innerText.includes({text})') for text in ('"a\\\\u202efdp.exe"', '"\\u202e"')])


def main(path, empty, pictures=None):
    with Chromium() as page:
        page.size(1600, 900)
        page.open(path)
        data = page.do('DATA')
        expect('what could be run of a name', 0, page.do('document.querySelectorAll("img, b:not(dd b), td script").length'))
        look_at_summary(page, data)
        look_at_tree(page)
        look_at_search(page, data)
        for row in data['clusters']['rows']:
            look_at_cluster(page, data, row, data['about']['threshold'])
            if any('\u202e' in member['path'] for member in row['members']):
                look_at_turned(page)
        look_at_sorting(page, data)
        look_at_commands(page)
        # A program that is not the page's own does not run.
        page.do('const made = document.createElement("script"); made.textContent = "document.title = \\"run\\""; document.body.append(made)')
        expect('another program', False, page.do('document.title === "run"'))
        expect('a refusal is told', 1, len(page.wrong()))
        look_at_sizes(page, path, pictures)
        page.media()
        page.open(empty)
        expect('nothing is told to resemble', True, 'No document' in page.do('document.getElementById("lead").textContent'))
        expect('no cluster', True, page.do('document.getElementById("cluster").hidden'))
        expect('what is wrong', [], page.wrong())
        expect('a dialog', [], [event for event in page.events if event['method'] == 'Page.javascriptDialogOpening'])


main(*sys.argv[1:])
