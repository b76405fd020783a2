'use strict';
/* What the parts of the page share: making elements, of text alone, and saying numbers. */

const KINDS = [
    {name: 'equal', title: 'Equal', what: 'the same bytes, or the same text'},
    {name: 'near', title: 'Near', what: ''},
    {name: 'loose', title: 'Looser', what: ''},
];
const DATA = JSON.parse(document.getElementById('data').textContent);

const byId = (id) => document.getElementById(id);

/* What turns round the text beside it is shown by its number: a name could be read as another one. */
const shown = (text) => text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined)
            made.setAttribute(name, value);
    made.append(...children.map((child) => typeof child === 'string' ? shown(child) : child));
    return made;
}

/* element('td', {class: 'number'}, 'text', another) */
function element(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
}

function drawn(name, attributes, ...children) {
    return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function titled(node, text) {
    node.append(node.namespaceURI.endsWith('svg') ? drawn('title', {}, text) : element('title', {}, text));
    return node;
}

/* Of very many things each has its title when it is pointed to. */
function titledLate(node, text) {
    node.addEventListener('pointerenter', () => titled(node, text()), {once: true});
    return node;
}

/* -- numbers -- */

const count = (n) => n.toLocaleString('en');
const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

function bytes(n) {
    const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
    let unit = 0;
    for (; n >= 999.5 && unit < units.length - 1; unit++)
        n /= 1000;
    return `${unit === 0 || n >= 99.95 ? Math.round(n) : n.toPrecision(n >= 9.995 ? 3 : 2)} ${units[unit]}`;
}

/* Nothing is rounded to what it is not: neither to none nor to all. */
function share(part, whole) {
    const percent = whole ? 100 * part / whole : 0;
    if (percent > 0 && percent < 1)
        return 'less than 1 %';
    return `${percent < 100 ? Math.min(99, Math.round(percent)) : 100} %`;
}

const ratio = (r) => r.toFixed(4);
const plusMinus = (error) => error ? ` \u00b1 ${error.toFixed(2)}` : '';

/* A change of a file, in the reader's time; one that no calendar has as its seconds. */
function day(seconds) {
    const date = new Date(seconds * 1000);
    if (Number.isNaN(date.getTime()))
        return `@${seconds}`;
    const two = (n) => String(n).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/* -- costs: [documents, bytes, copies of each kind, bytes of each kind] --
 *
 * Near-duplicates are those of the first two kinds. */

const costOf = (list) => ({
    documents: list[0],
    bytes: list[1],
    copies: list.slice(2, 5),
    copyBytes: list.slice(5, 8),
    nNear: list[2] + list[3],
    near: list[5] + list[6],
    loose: list[7],
});

/* A bar of the whole, of which the kinds take a part each. */
function bar(cost, whole, what) {
    const made = element('div', {class: 'bar', role: 'img', 'aria-label':
        `${what}: ` + KINDS.map((kind, i) => `${kind.title.toLowerCase()} ${bytes(cost.copyBytes[i])}`).join(', ')});
    KINDS.forEach((kind, i) => {
        const part = element('div', {class: kind.name});
        part.style.width = `${whole ? 100 * cost.copyBytes[i] / whole : 0}%`;
        made.append(part);
    });
    return made;
}

const matches = (path, wanted) => path.toLowerCase().includes(wanted);
