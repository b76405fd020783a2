/* Tables that are sorted by their heads, searched, and walked through by keys. */

/* Makes a table of rows.
 *
 * columns   {title, class, value(row): what it is sorted by, cell(row): a node or text}
 * options   choose(row, element): a row was clicked, or Enter pressed; keys(event, row): more keys, true: done;
 *           order(rows, compare): another way to sort; dress(element, row): what else a row has
 *
 * Returns {show(rows), choose(row)}. */
function makeTable(table, columns, options) {
    let shown = [], by = null, down = true, elements = new Map();
    const body = element('tbody', {});
    const heads = columns.map((column) => {
        const head = element('th', {scope: 'col', class: column.class || null});
        const button = element('button', {type: 'button'}, column.title);
        button.addEventListener('click', () => {
            down = by === column ? !down : (column.class || '').startsWith('number');
            by = column;
            draw();
        });
        head.append(column.value ? button : column.title);
        return head;
    });
    table.replaceChildren(element('thead', {}, element('tr', {}, ...heads)), body);

    function compare(a, b) {
        const x = by.value(a), y = by.value(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    }

    function draw() {
        const focused = [...elements].find(([, made]) => made === document.activeElement);
        const sorted = options.order ? options.order(shown, by && compare) : by ? [...shown].sort(compare) : shown;
        heads.forEach((head, i) => {
            head.setAttribute('aria-sort', by !== columns[i] ? 'none' : down ? 'descending' : 'ascending');
            if (columns[i].value)
                head.firstChild.textContent = columns[i].title + (by !== columns[i] ? '' : down ? ' \u25be' : ' \u25b4');
        });
        elements = new Map(sorted.map((row) => [row, makeRow(row)]));
        body.replaceChildren(...elements.values());
        if (focused && elements.has(focused[0]))
            focus(elements.get(focused[0]));
        else if (options.choose && body.firstChild)
            body.firstChild.tabIndex = 0;
    }

    function makeRow(row) {
        const made = element('tr', options.choose ? {tabindex: -1} : {});
        columns.forEach((column) => made.append(element('td', {class: column.class || null}, column.cell(row))));
        if (options.choose) {
            made.addEventListener('click', () => { focus(made); options.choose(row, made); });
            made.addEventListener('keydown', (event) => press(event, row, made));
        }
        if (options.dress)
            options.dress(made, row);
        return made;
    }

    /* One row of a table is reached by Tab, and the others from it. */
    function focus(made) {
        for (const other of body.children)
            other.tabIndex = other === made ? 0 : -1;
        made.focus({preventScroll: false});
    }

    function press(event, row, made) {
        const page = 10, rows = [...body.children], at = rows.indexOf(made);
        const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: at + page, PageUp: at - page}[event.key];
        if (to !== undefined)
            focus(rows[Math.max(0, Math.min(rows.length - 1, to))]);
        else if (event.key === 'Enter' || event.key === ' ')
            options.choose(row, made);
        else if (!options.keys || !options.keys(event, row, (other) => elements.has(other) && focus(elements.get(other))))
            return;
        event.preventDefault();
    }

    return {
        show(rows) { shown = rows; draw(); },
        choose(row) {
            for (const [other, made] of elements)
                made.setAttribute('aria-selected', String(other === row));
        },
    };
}

/* What near-duplicates take, which part of all that is, and apart from these what resembles less. */
const COST_COLUMNS = [
    {title: 'Near-duplicates', class: 'number', value: (row) => row.cost.near, cell: (row) => bytes(row.cost.near)},
    {title: 'Share', class: 'number', value: (row) => row.cost.near / (row.cost.bytes || 1), cell: (row) => share(row.cost.near, row.cost.bytes)},
    {title: 'Looser', class: 'number spare', value: (row) => row.cost.loose, cell: (row) => bytes(row.cost.loose)},
];

/* -- directories -- */

function directoryTree() {
    const rows = DATA.directories.rows.map((row) => ({parent: row[0], name: row[1], cost: costOf(row.slice(2)), children: [], open: false}));
    for (const row of rows) {
        row.path = row.parent < 0 ? '' : (rows[row.parent].path ? `${rows[row.parent].path}/` : '') + row.name;
        row.depth = row.parent < 0 ? 0 : rows[row.parent].depth + 1;
        if (row.parent >= 0)
            rows[row.parent].children.push(row);
    }
    return rows;
}

/* What is in the root is shown, and what is in the costliest that are, until a screen is full. */
function openSome(rows) {
    const most = 14;
    let shown = rows.slice(0, 1);
    if (shown.length) {
        shown[0].open = true;
        shown = shown.concat(shown[0].children);
    }
    for (;;) {
        const next = shown.filter((row) => !row.open && row.children.length && shown.length + row.children.length <= most)
            .sort((a, b) => b.cost.near - a.cost.near || b.cost.loose - a.cost.loose)[0];
        if (!next)
            return;
        next.open = true;
        shown = shown.concat(next.children);
    }
}

function makeDirectories() {
    const rows = directoryTree();
    const all = costOf(DATA.all);
    let wanted = '', kept = null;

    function visible(shown, compare) {
        const list = [];
        const add = (row) => {
            if (kept && !kept.has(row))
                return;
            list.push(row);
            if (row.open || kept)
                (compare ? [...row.children].sort(compare) : row.children).forEach(add);
        };
        shown.filter((row) => row.parent < 0).forEach(add);
        return list;
    }
    const toggle = (row, open) => { row.open = open; table.show(rows); };
    const nameOf = (row) => {
        const made = element('span', {}, element('span', {class: 'toggle', 'aria-hidden': 'true'},
            row.children.length ? row.open || kept ? '\u25be' : '\u25b8' : ''), row.parent < 0 ? 'all' : `${row.name}/`);
        made.style.paddingLeft = `${Math.min(row.depth, 12) * 0.9}rem`;
        made.style.display = 'inline-block';
        return made;
    };
    const table = makeTable(byId('directories'), [
        {title: 'Directory', class: 'name', value: (row) => row.name, cell: nameOf},
        ...COST_COLUMNS,
        {title: 'Documents', class: 'number spare', value: (row) => row.cost.nNear, cell: (row) => `${count(row.cost.nNear)} of ${count(row.cost.documents)}`},
        {title: 'Equal, near, looser', class: 'barred', cell: (row) => bar(row.cost, all.near + all.loose, row.path || 'all')},
    ], {
        order: visible,
        choose: (row) => row.children.length && toggle(row, !row.open),
        dress(made, row) {
            made.setAttribute('aria-level', row.depth + 1);
            if (row.children.length)
                made.setAttribute('aria-expanded', String(row.open || kept !== null));
        },
        keys(event, row, focusOn) {
            if (event.key === 'ArrowRight' && row.children.length)
                row.open ? focusOn(row.children[0]) : toggle(row, true);
            else if (event.key === 'ArrowLeft')
                row.open ? toggle(row, false) : row.parent >= 0 && focusOn(rows[row.parent]);
            else
                return false;
            return true;
        },
    });
    openSome(rows);
    table.show(rows);
    const left = DATA.directories.left_out;
    byId('directories-note').textContent = !left ? ''
        : `${count(left)} more have such documents, which take no more there than in these; they are counted in those above.`;
    return {
        search(text) {
            wanted = text;
            kept = null;
            if (wanted) {
                kept = new Set();
                for (const row of rows)
                    for (let at = matches(row.path, wanted) ? row : null; at; at = rows[at.parent])
                        kept.add(at);
            }
            table.show(rows);
        },
    };
}

function makeTypes() {
    const all = costOf(DATA.all);
    makeTable(byId('types'), [
        {title: 'Type', value: (row) => row.name, cell: (row) => row.name},
        ...COST_COLUMNS,
        {title: 'Equal, near, looser', class: 'barred', cell: (row) => bar(row.cost, all.near + all.loose, row.name)},
    ], {}).show(DATA.types.map((row) => ({name: row[0], cost: costOf(row.slice(1))})));
}
