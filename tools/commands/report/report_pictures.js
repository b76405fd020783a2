/* A cluster in pictures: as a graph, as a matrix, in time. Each tells which document was chosen. */

const SIZE = 400, PAD = 24;

/* "pairs" are of the first with each behind it, then of the second, and so on; -1: it is not known. */
function resemblancesOf(cluster) {
    const n = cluster.members.length, units = 10000;
    const at = (i, j) => i === j ? 1 : i > j ? at(j, i) : cluster.pairs[i * n - i * (i + 1) / 2 + j - i - 1] / units;
    return at;
}

const strength = (r) => Math.max(0, Math.min(1, (r - DATA.about.threshold) / (1 - DATA.about.threshold)));

const pairTitle = (cluster, i, j, r) =>
    `${i + 1} ${cluster.members[i].path}\n${j + 1} ${cluster.members[j].path}\n${r < 0 ? 'not known' : ratio(r)}`;

function node(cluster, i, x, y, radius, choose) {
    const member = cluster.members[i];
    const made = drawn('g', {class: i ? 'node' : 'node first', 'data-member': i},
        drawn('circle', {cx: x, cy: y, r: radius}), drawn('text', {x, y: y + 3.5}, String(i + 1)));
    titled(made, `${i + 1} ${member.path}\n${ratio(member.resemblance)} of the representative, ${bytes(member.size)}`);
    made.addEventListener('click', () => choose(0, i));
    return made;
}

function drawGraph(cluster, choose) {
    const at = resemblancesOf(cluster), n = cluster.members.length;
    const largest = Math.max(1, ...cluster.members.map((member) => member.size));
    const place = (i) => [PAD + (SIZE - 2 * PAD) * cluster.members[i].x, PAD + (SIZE - 2 * PAD) * cluster.members[i].y];
    const links = [];
    for (let i = 0; i < n; i++)
        for (let j = i + 1; j < n; j++)
            if (at(i, j) >= DATA.about.threshold)
                links.push([at(i, j), i, j]);
    links.sort((a, b) => a[0] - b[0]);
    const light = Math.min(1, Math.sqrt(100 / links.length)); /* very many are drawn lightly */
    const made = drawn('svg', {viewBox: `0 0 ${SIZE} ${SIZE}`, role: 'img', 'aria-label':
        `Graph of ${counted(n, 'document')} with ${counted(links.length, 'link')}`});
    for (const [r, i, j] of links) {
        const [x1, y1] = place(i), [x2, y2] = place(j);
        made.append(titledLate(drawn('line', {class: 'link', x1, y1, x2, y2, 'stroke-width': (0.5 + 2.5 * strength(r)).toFixed(2),
            'stroke-opacity': (light * (0.15 + 0.6 * strength(r))).toFixed(3)}), () => pairTitle(cluster, i, j, r)));
    }
    for (let i = n - 1; i >= 0; i--)
        made.append(node(cluster, i, ...place(i), 6.5 + 5 * Math.sqrt(cluster.members[i].size / largest), choose));
    return made;
}

/* Arrow keys move from cell to cell. */
function drawMatrix(cluster, choose) {
    const at = resemblancesOf(cluster), n = cluster.members.length, edge = 22, size = (SIZE - edge) / n;
    const every = Math.ceil(n / 25); /* a number takes room */
    const made = drawn('svg', {class: 'matrix', viewBox: `0 0 ${SIZE} ${SIZE}`, tabindex: 0, role: 'application', 'aria-label':
        `Matrix of ${counted(n, 'document')}; arrow keys choose a pair`});
    const cursor = drawn('rect', {class: 'cursor', width: size, height: size, visibility: 'hidden'});
    const go = (row, column) => {
        made.dataset.row = row;
        made.dataset.column = column;
        fill(cursor, {x: edge + column * size, y: edge + row * size, visibility: 'visible'}, []);
        choose(cluster.order[row], cluster.order[column]);
    };
    for (let row = 0; row < n; row++) {
        const i = cluster.order[row], middle = edge + (row + 0.5) * size;
        if (row % every === 0)
            made.append(drawn('text', {x: edge - 4, y: middle + 3, 'text-anchor': 'end'}, String(i + 1)),
                drawn('text', {x: middle, y: edge - 5, 'text-anchor': 'middle'}, String(i + 1)));
        for (let column = 0; column < n; column++) {
            const j = cluster.order[column], r = at(i, j);
            const cell = drawn('rect', {class: r < 0 ? 'cell none' : 'cell', x: edge + column * size, y: edge + row * size,
                width: Math.max(size - 0.6, 0.5), height: Math.max(size - 0.6, 0.5), 'fill-opacity': r < 0 ? 1 : (0.05 + 0.95 * strength(r)).toFixed(3)});
            cell.addEventListener('click', () => go(row, column));
            made.append(titledLate(cell, () => pairTitle(cluster, i, j, r)));
        }
    }
    made.append(cursor);
    made.addEventListener('keydown', (event) => {
        const step = {ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1]}[event.key];
        if (!step)
            return;
        event.preventDefault();
        const within = (x) => Math.max(0, Math.min(n - 1, x));
        go(within(Number(made.dataset.row || 0) + step[0]), within(Number(made.dataset.column || 0) + step[1]));
    });
    return made;
}

/* Versions of a document: when each was changed last, and how far it is from the one that stays. */
function drawTimes(cluster, choose, width) {
    const height = 240, left = 44, right = 16, top = 18, bottom = 34, inner = 12;
    const members = cluster.members, times = members.map((member) => member.mtime);
    const first = Math.min(...times), span = Math.max(...times) - first;
    const low = Math.min(0.95, ...members.map((member) => member.resemblance));
    const least = Math.max(0, Math.floor(low * 20 - 0.5) / 20);
    const x = (time) => left + inner + (width - left - right - 2 * inner) * (span ? (time - first) / span : 0.5);
    const y = (r) => top + (height - top - bottom) * (1 - (r - least) / (1 - least));
    const made = drawn('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label':
        `${counted(members.length, 'document')}, changed from ${day(first)} to ${day(first + span)}`});
    for (let i = 0; i <= 4; i++) {
        const r = least + (1 - least) * i / 4;
        made.append(drawn('line', {class: 'axis', x1: left, x2: width - right, y1: y(r), y2: y(r)}),
            drawn('text', {class: 'quiet', x: left - 8, y: y(r) + 4, 'text-anchor': 'end'}, r.toFixed(2)));
    }
    const nTicks = !span ? 0 : width < 600 ? 2 : 4;
    for (let i = 0; i <= nTicks; i++) {
        const time = first + (nTicks ? span * i / nTicks : 0);
        const anchor = !nTicks ? 'middle' : i === 0 ? 'start' : i === nTicks ? 'end' : 'middle';
        made.append(drawn('text', {class: 'quiet', x: x(time), y: height - 10, 'text-anchor': anchor}, day(time)));
    }
    const inTime = members.map((member, i) => i).sort((a, b) => times[a] - times[b] || a - b);
    made.append(drawn('polyline', {class: 'way', points: inTime.map((i) => `${x(times[i])},${y(members[i].resemblance)}`).join(' ')}));
    for (let i = members.length - 1; i >= 0; i--)
        made.append(node(cluster, i, x(times[i]), y(members[i].resemblance), 9, choose));
    return made;
}

/* -- a pair -- */

function strips(passages) {
    const width = 800, height = 90, thick = 18, words = [Math.max(1, passages.words_a), Math.max(1, passages.words_b)];
    const x = (word, side) => (width * word / words[side]).toFixed(2);
    const made = drawn('svg', {class: 'strips', viewBox: `0 0 ${width} ${height}`, role: 'img', 'preserveAspectRatio': 'none', 'aria-label':
        'Where in the two documents the passages are'});
    const tops = [0, height - thick];
    tops.forEach((y) => made.append(drawn('rect', {x: 0, y, width, height: thick})));
    for (const [a, b, n] of passages.runs) {
        made.append(drawn('polygon', {points: `${x(a, 0)},${thick} ${x(a + n, 0)},${thick} ${x(b + n, 1)},${height - thick} ${x(b, 1)},${height - thick}`}));
        [a, b].forEach((begin, side) => made.append(drawn('rect', {class: 'shared', x: x(begin, side), y: tops[side],
            width: Math.max(0.5, x(n, side)), height: thick})));
    }
    return made;
}

const lines = (side) => side.line === side.last_line ? `line ${side.line}` : `lines ${side.line} to ${side.last_line}`;

function passageRows(passages) {
    return passages.passages.map((passage) => element('div', {class: 'sides'}, ...['a', 'b'].map((name) =>
        element('div', {}, element('div', {class: 'quiet'}, `${counted(passage.words, 'word')}, ${lines(passage[name])}`),
            element('pre', {}, passage[name].text)))));
}

/* What ends a line, moves a terminal's cursor or turns round what stands beside it. */
const HIDDEN = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const octal = (character) => [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

/* As a shell reads it: what is hidden by its bytes, as bash, zsh and ksh take them. */
const shellWord = (text) => text.search(HIDDEN) < 0 ? `'${text.replaceAll("'", `'\\''`)}'`
    : `$'${text.replaceAll(/['\\]/g, '\\$&').replaceAll(HIDDEN, octal)}'`;

/* A name that is no UTF-8 is not shown as it is. */
function explainCommand(a, b) {
    return DATA.about.source_bytes || a.path_bytes || b.path_bytes ? null
        : `kinfs explain ${[a, b].map((member) => shellWord(`${DATA.about.source}/${member.path}`)).join(' ')}`;
}

function showPair(cluster, i, j) {
    const r = resemblancesOf(cluster)(i, j), a = cluster.members[i], b = cluster.members[j];
    const passages = DATA.passages.rows.find((row) => row.cluster === cluster.cluster && ((i === 0 && row.member === j) || (j === 0 && row.member === i)));
    const error = i === 0 ? b.error : j === 0 ? a.error : 0;
    byId('pair-title').textContent = i === j ? `Document ${i + 1}` : `Documents ${i + 1} and ${j + 1}: ` +
        (r < 0 ? 'not known' : r >= 1 ? 'equal' : `resemblance ${ratio(r)}${plusMinus(error)}`);
    const parts = [element('p', {}, `${i + 1} ${a.path}`)];
    if (i !== j)
        parts.push(element('p', {}, `${j + 1} ${b.path}`));
    if (i !== j && passages) {
        const more = passages.n_passages - passages.passages.length;
        const part = (path, n, shared) => `of ${counted(n, 'word')} of ${path} ${share(shared, n)}`;
        parts.push(element('p', {}, 'In passages of 8 words or more that both have are ' +
            `${part(passages.a, passages.words_a, passages.shared_words_a)}, and ${part(passages.b, passages.words_b, passages.shared_words_b)}.`),
            strips(passages), ...passageRows(passages));
        if (more > 0)
            parts.push(element('p', {class: 'quiet'}, `${counted(more, 'shorter passage')} not shown; long ones are cut.`));
    } else if (i !== j && r < 1) {
        const command = explainCommand(a, b);
        parts.push(element('p', {class: 'quiet'}, 'The passages of this pair are not on the page',
            ...(command ? ['; this shows them: ', element('code', {}, command)] : ['.'])));
    }
    byId('pair').replaceChildren(...parts);
}
