#!/usr/bin/env python3
"""json_page.py PAGE SEEN RARE COMMAND...

Whether PAGE, kinfs-json(5), says what is printed. SEEN is a directory with a file for each section of the page, its objects a
line each; RARE a file with lines "SECTION MEMBER REASON", with tabs between, of members that need not have been seen. Prints a
line for each that is not so: a COMMAND without a section, a section of which nothing was seen, a member that is not named or
of another type than the page has, one that was never seen. Exit 0: none; 1: some.
"""
import base64
import json
import pathlib
import re
import sys

TYPES = {'path', 'text', 'string', 'count', 'integer', 'ratio', 'number', 'boolean', 'object', 'array', 'any'}
ITEM = re.compile(r'\.It Va (.+) Pq (\w+)( or null)?$')


class Decimal(str):
    """A number with a point, as it was printed."""


def sections_of(page):
    """By the name of a section its members, with type and whether they may be null."""
    commands = page.split('\n.Sh COMMANDS\n')[1].split('\n.Sh ')[0]
    sections = {}
    for part in commands.split('.Ss ')[1:]:
        name, _, body = part.partition('\n')
        same = re.match(r'.*: that of\n\.Sx (.+) \.\n?$', body)
        members = sections[name] = dict(sections[same[1]]) if same else {}
        for line in body.splitlines():
            if not line.startswith('.It '):
                continue
            item = ITEM.match(line)
            if not item or item[2] not in TYPES:
                say_wrong(f'{name}: no item of a member: {line}')
                continue
            for member in item[1].split(' , '):
                if member in members:
                    say_wrong(f'{name}: {member} is there twice')
                members[member] = (item[2], bool(item[3]))
    return sections


WRONG = []


def say_wrong(text):
    if text not in WRONG:
        WRONG.append(text)


def is_of(kind, value):
    if kind == 'ratio':
        return isinstance(value, Decimal) and bool(re.fullmatch(r'0\.\d{4}|1\.0000', value))
    if kind == 'number':
        return isinstance(value, Decimal) and bool(re.fullmatch(r'-?\d+\.\d{1,4}', value))
    if kind in ('path', 'text', 'string'):
        return isinstance(value, str) and not isinstance(value, Decimal)
    if kind in ('count', 'integer'):
        return isinstance(value, int) and not isinstance(value, bool) and (kind == 'integer' or 0 <= value < 1 << 64)
    return isinstance(value, {'boolean': bool, 'object': dict, 'array': list, 'any': object}[kind])


def are_bytes(value):
    try:
        base64.b64decode(value, validate=True).decode()
    except UnicodeDecodeError:
        return True
    except ValueError:
        pass
    return False


def look(section, members, seen, above, value):
    """At an object whose members' names begin with `above`."""
    for name, member in value.items():
        full = above + name
        kind, may_be_null = members.get(full, (None, False))
        plain = full.removesuffix('_bytes')
        if not kind and plain != full and members.get(plain, ('',))[0] in ('path', 'text'):
            seen.add('_bytes')
            if not are_bytes(member):
                say_wrong(f'{section}: {full} is not the bytes of what is no UTF-8: {member!r}')
        elif not kind:
            say_wrong(f'{section}: the page has no {full}, which is {member!r}')
        elif not (may_be_null if member is None else is_of(kind, member)):
            say_wrong(f'{section}: {full} is no {kind}: {member!r}')
        seen.add(full)
        if kind == 'object' and isinstance(member, dict):
            look(section, members, seen, full + '.', member)
        for element in member if kind == 'array' and isinstance(member, list) else []:
            if isinstance(element, dict):
                look(section, members, seen, full + '[].', element)
            elif not is_of('string', element):
                say_wrong(f'{section}: {full} has {element!r}')


def main(page, seen_in, rare, *commands):
    sections = sections_of(pathlib.Path(page).read_text())
    rarely = dict.fromkeys(tuple(line.split('\t')[:2]) for line in pathlib.Path(rare).read_text().splitlines())
    for section, member in rarely:
        if member not in sections.get(section, {}):
            say_wrong(f'{section}: {member}, which is rare, is not in the page')
    for command in commands:
        if command not in sections:
            say_wrong(f'the page has no section of kinfs {command}')
    any_bytes = False
    for path in pathlib.Path(seen_in).iterdir():
        if path.name not in sections:
            say_wrong(f'{path.name}: the page has no such section')
    for section, members in sections.items():
        seen = set()
        path = pathlib.Path(seen_in, section)
        lines = path.read_text().splitlines() if path.exists() else []
        for line in lines:
            look(section, members, seen, '', json.loads(line, parse_float=Decimal))
        any_bytes |= '_bytes' in seen
        if not lines:
            say_wrong(f'{section}: nothing was seen')
        # What another section has is told there.
        is_same = any(members == others and name != section for name, others in list(sections.items())[:list(sections).index(section)])
        for member in [] if is_same else members:
            if member not in seen and (section, member) not in rarely:
                say_wrong(f'{section}: {member} was never seen')
    if not any_bytes:
        say_wrong('no name that is no UTF-8 was seen')
    print('\n'.join(WRONG))
    return bool(WRONG)


sys.exit(main(*sys.argv[1:]))
