/* The page as a whole: what is told of the tree, the clusters, which of them is shown, and keys. */

function tellSummary() {
    const about = DATA.about, all = costOf(DATA.all);
    const near = about.near.toFixed(2), least = about.threshold.toFixed(1);
    KINDS[1].what = `resemblance of ${near} or more`;
    KINDS[2].what = `resemblance of less than ${near}`;
    byId('tree').textContent = shown(about.source);
    document.title = `Near-duplicates in ${shown(about.source)}`;
    byId('when').textContent = `As of ${about.time}: ${counted(all.documents, 'document')}, ${bytes(all.bytes)}`;
    byId('lead').textContent = all.nNear
        ? `${bytes(all.near)} of ${bytes(all.bytes)} (${share(all.near, all.bytes)}) are near-duplicates: ${counted(all.nNear, 'document')} ` +
            'that could go, as another one is kept that says the same, or nearly.'
        : 'No document is a near-duplicate of another one.';
    byId('lead').append(all.copies[2] ? ` ${bytes(all.loose)} more, in ${counted(all.copies[2], 'document')}, resemble another one less.` : '');
    byId('all-bar').replaceChildren(bar(all, all.bytes, 'Of all bytes'));
    byId('kinds').replaceChildren(...KINDS.map((kind, i) => element('div', {},
        element('dt', {}, element('i', {class: kind.name}), kind.title),
        element('dd', {}, element('b', {}, bytes(all.copyBytes[i])), ` in ${counted(all.copies[i], 'document')}`),
        element('dd', {class: 'quiet'}, kind.what))));
    tellHow(about, near, least);
}

function tellHow(about, near, least) {
    const errors = DATA.clusters.rows.flatMap((row) => (row.members || []).map((member) => member.error));
    const worst = errors.reduce((a, b) => Math.max(a, b), 0), rows = DATA.clusters.rows.length, left = [];
    if (DATA.clusters.left_out)
        left.push(`${counted(DATA.clusters.left_out, 'cluster')} whose near-duplicates take no more than those of the ${count(rows)} that are shown`);
    if (DATA.clusters.pictures_left_out)
        left.push(`the pictures of ${counted(DATA.clusters.pictures_left_out, 'cluster')}`);
    if (DATA.directories.left_out)
        left.push(`${count(DATA.directories.left_out)} directories`);
    if (DATA.passages.left_out)
        left.push(`the passages of ${counted(DATA.passages.left_out, 'pair')}`);
    const facts = [
        `A cluster is of documents that resemble each other by ${least} or more, by way of others where need be. ` +
            'One of it, the representative, which has most words, would be kept; each other one costs its size.',
        `These are equal to the representative (the same bytes or the same text), near (resemblance of ${near} or more), or looser. ` +
            'The first two are called near-duplicates; what is looser may well be a version that is wanted.',
        'A file with several hard links is one document, and counts once, by one of its paths.',
        `Resemblances are estimates by sketches${worst ? `, with a standard error of ${worst.toFixed(3)} at most for those that are shown` : ''}. ` +
            'Equal is no estimate.',
        `Sketched by ${about.policy}; kinfs ${about.version}.`,
        left.length ? `Not on the page, but counted: ${left.join('; ')}.` : 'Nothing was left out.',
    ];
    if (about.pending || about.scanning)
        facts.push(`${counted(about.pending, 'document')} had not been read yet${about.scanning ? ', and the tree was still being scanned' : ''}.`);
    if (about.skipped)
        facts.push(`${counted(about.skipped, 'document')} could not be read, and do not count.`);
    if (about.changed)
        facts.push('The tree changed while it was counted: numbers of different tables may differ.');
    byId('how').replaceChildren(...facts.map((fact) => element('li', {}, fact)));
}

/* -- clusters -- */

function showScale() {
    const steps = [0, 0.25, 0.5, 0.75, 1].map((part) => {
        const box = element('i', {});
        box.style.opacity = 0.05 + 0.95 * part;
        return [box, (DATA.about.threshold + (1 - DATA.about.threshold) * part).toFixed(2)];
    });
    byId('scale').replaceChildren('Resemblance', ...steps.flat());
}

let membersTable = null, shownCluster = null;

function choosePair(i, j) {
    showPair(shownCluster, i, j);
    for (const made of document.querySelectorAll('.node'))
        made.classList.toggle('chosen', [String(i), String(j)].includes(made.dataset.member));
    membersTable.choose(shownCluster.members[j]);
}

function showMembers(cluster) {
    const numbers = new Map(cluster.members.map((member, i) => [member, i]));
    membersTable = makeTable(byId('members'), [
        {title: '', class: 'number', value: (row) => numbers.get(row), cell: (row) => String(numbers.get(row) + 1)},
        {title: 'Resemblance', class: 'number', value: (row) => row.resemblance,
            cell: (row) => numbers.get(row) ? ratio(row.resemblance) + plusMinus(row.error) : 'kept'},
        {title: 'Size', class: 'number', value: (row) => row.size, cell: (row) => bytes(row.size)},
        {title: 'Changed', class: 'number spare', value: (row) => row.mtime, cell: (row) => day(row.mtime)},
        {title: 'Type', class: 'spare', value: (row) => row.type, cell: (row) => row.type},
        {title: 'Document', class: 'name', value: (row) => row.path, cell: (row) => row.path},
    ], {choose: (row) => choosePair(0, numbers.get(row))});
    membersTable.show(cluster.members);
}

/* Text in it is as large as elsewhere, however wide it is. */
function showTimes() {
    if (shownCluster && shownCluster.members)
        byId('times').replaceChildren(drawTimes(shownCluster, choosePair, Math.max(320, byId('times').clientWidth)));
}

function showCluster(cluster) {
    const cost = costOf(cluster.cost), section = byId('cluster');
    shownCluster = cluster;
    section.hidden = false;
    byId('cluster-title').textContent = shown(`Cluster ${cluster.cluster}: ${cluster.representative}`);
    byId('cluster-note').textContent = `${counted(cost.documents, 'document')}, changed from ${day(cluster.first)} to ${day(cluster.last)}; ` +
        `near-duplicates take ${bytes(cost.near)}, looser ones ${bytes(cost.loose)}.`;
    if (!cluster.members)
        byId('cluster-note').append(' It is not drawn: the page would be too long.');
    else if (cluster.members.length < cost.documents)
        byId('cluster-note').append(` Drawn are ${count(cluster.members.length)}, evenly taken by their resemblance.`);
    for (const id of ['graph', 'matrix', 'times', 'members', 'pair', 'pair-title'])
        byId(id).replaceChildren();
    for (const part of section.querySelectorAll('.pictures, .scale, .scrolled'))
        part.hidden = !cluster.members;
    if (!cluster.members)
        return;
    byId('graph').append(drawGraph(cluster, choosePair));
    byId('matrix').append(drawMatrix(cluster, choosePair));
    showTimes();
    showMembers(cluster);
    const passages = DATA.passages.rows.find((row) => row.cluster === cluster.cluster);
    choosePair(0, passages ? passages.member : cluster.members.length - 1);
}

function makeClusters() {
    const rows = DATA.clusters.rows;
    for (const row of rows)
        row.sum = costOf(row.cost);
    const most = Math.max(1, ...rows.map((row) => row.sum.near + row.sum.loose));
    const table = makeTable(byId('clusters'), [
        {title: 'Near-duplicates', class: 'number', value: (row) => row.sum.near, cell: (row) => bytes(row.sum.near)},
        {title: 'Looser', class: 'number spare', value: (row) => row.sum.loose, cell: (row) => bytes(row.sum.loose)},
        {title: 'Documents', class: 'number', value: (row) => row.sum.documents, cell: (row) => count(row.sum.documents)},
        {title: 'Least resemblance', class: 'number spare', value: (row) => row.resemblance_min, cell: (row) => ratio(row.resemblance_min)},
        {title: 'Last change', class: 'number spare', value: (row) => row.last, cell: (row) => day(row.last)},
        {title: 'Representative', class: 'name', value: (row) => row.representative, cell: (row) => row.representative},
        {title: 'Equal, near, looser', class: 'barred extra', cell: (row) => bar(row.sum, most, row.representative)},
    ], {choose(row, made) {
        open(row);
        if (made)
            byId('cluster-title').focus();
    }});
    const open = (row) => { table.choose(row); showCluster(row); };

    return {
        search(wanted) {
            const found = rows.filter((row) => [row.representative, ...(row.members || []).map((member) => member.path)].some((path) => matches(path, wanted)));
            table.show(found);
            byId('clusters-note').textContent = wanted
                ? `${counted(found.length, 'cluster')} of the ${count(rows.length)} that are shown ${found.length === 1 ? 'has' : 'have'} such a path.`
                : `${count(rows.length)} of ${counted(DATA.clusters.all, 'cluster')}, whose near-duplicates take most. A click or Enter shows one below.`;
            if (shownCluster)
                table.choose(shownCluster);
        },
        openFirst() {
            if (rows.length)
                open(rows[0]);
        },
    };
}

/* -- the page -- */

function makeTheme() {
    const root = document.documentElement, button = byId('theme');
    const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    const say = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
    button.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; say(); });
    say();
}

function makeSearch(parts) {
    const field = byId('search');
    const search = () => parts.forEach((part) => part.search(field.value.trim().toLowerCase()));
    field.addEventListener('input', search);
    document.addEventListener('keydown', (event) => {
        const typing = document.activeElement === field;
        if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            field.focus();
        } else if (event.key === 'Escape' && (typing || field.value)) {
            field.value = '';
            search();
            field.blur();
        }
    });
    search();
}

tellSummary();
showScale();
makeTypes();
const clusters = makeClusters();
makeSearch([makeDirectories(), clusters]);
clusters.openFirst();
addEventListener('resize', showTimes);
makeTheme();
