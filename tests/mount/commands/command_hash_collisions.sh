#!/usr/bin/env bash
# Documents that somebody made so that XXH3, under the secret that its library has for all, cannot tell them apart, are two.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

mkdir -p "$SOURCE"
cd "$SCRATCH"
# In two words of a lane the lower halves agree once they are exclusive or'd with the secret's 8 bytes there, so that a letter of one
# upper half and one of the other can change places (tests/unit/engine/sketch/documents/crafted.h). Many such pairs: few shingles are in both texts.
python3 - "$SOURCE" <<'PYTHON'
import ctypes, random, sys
SECRET = bytes.fromhex('''
b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221
b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8
a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb
170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e''')
LETTERS = b'abcdefghijklmnopqrstuvwxyz0123456789'
WORDS, BLOCK = 1280, 128
random.seed(2)
pairs, places = {}, []
for x in LETTERS:
    for y in LETTERS:
        pairs.setdefault(x ^ y, []).append((x, y))
for lane in range(8):
    for s in range(15):
        for t in range(s + 1, 15):
            a, b = (SECRET[8 * (stripe + lane):][:8] for stripe in (s, t))
            if all(x ^ y in pairs for x, y in zip(a[:4], b[:4])):
                places += [(8 * s + lane, 8 * t + lane, a, b, at, bit) for at in range(4, 8)
                           for bit in (1, 2, 4, 8) if not (a[at] ^ b[at]) & bit]
random.shuffle(places)
one = [bytearray(random.choices(LETTERS[:26], k=8)) for _ in range(WORDS)]
other, used = [bytearray(word) for word in one], set()
for s, t, a, b, at, bit in places:
    if s in used or t in used:
        continue
    used |= {s, t}
    for block in range(0, WORDS, BLOCK):
        for i in range(4):
            x, y = random.choice(pairs[a[i] ^ b[i]])
            for text in one, other:
                text[block + s][i], text[block + t][i] = x, y
        low = random.choice([c for c in LETTERS[:26] if not c & bit and c | bit in LETTERS[:26]])
        one[block + s][at] = other[block + t][at] = low
        one[block + t][at] = other[block + s][at] = low | bit

class Hash(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]

of = ctypes.CDLL('libxxhash.so.0').XXH3_128bits
of.restype, of.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
digests = {(of(text, len(text)).low, of(text, len(text)).high) for text in (b''.join(one), b''.join(other))}
assert one != other and len(digests) == 1, digests
for name, text in ('a', one), ('b', other):
    words = [word.decode() for word in text]
    lines = [' '.join(words[i:i + 10]) for i in range(0, WORDS, 10)]
    open(f'{sys.argv[1]}/{name}', 'w').write('\n'.join(lines) + '\n')
    open(f'{sys.argv[1]}/{name}.copy', 'w').write('\n\n'.join(lines).upper())
    open(f'{sys.argv[1]}/{name}.bytes', 'w').write(''.join(words)) # without a blank: of one content under that secret
PYTHON

for way in --exact --resample; do
    for pair in 'a b' 'a.bytes b.bytes' 'a.copy b'; do
        read -r a b <<< "$pair"
        "$KINFS" compare "$way" "$SOURCE/$a" "$SOURCE/$b" > said || fail "$way: $pair"
        expect_equal "$way: $pair" 0 "$(grep -cE 'the same|1\.0000' said)"
    done
    expect_match "$way: one text" 'the same text' "$("$KINFS" compare "$way" "$SOURCE/a" "$SOURCE/a.copy")"
done

for mode in exact fast center broder1997; do
    "$KINFS" cluster -t 1 --mode=$mode "$SOURCE" | sed "s|$SOURCE/||" > clusters
    expect_equal "$mode" "a a.copy b b.copy" "$(cut -f 2 clusters | sort | paste -sd ' ')"
    expect_equal "$mode: two" 2 "$(cut -f 1 clusters | sort -u | wc -l)"
done

# What is kept is under the key that is kept with it, whatever other runs have.
"$KINFS" cluster -t 1 --keep=kept "$SOURCE" > first
for phase in duplicates clusters; do
    "$KINFS" cluster -t 1 --keep=kept --phase=$phase | cmp - first
done
expect_equal 'kept' 2 "$(cut -f 1 first | sort -u | wc -l)"

# A store's answers, also of one that is made anew under another key.
for _ in 1 2; do
    "$KINFS" scan --store=store "$SOURCE" > scanned
    for pair in 'a b' 'a.bytes b.bytes' 'a.copy b'; do
        read -r a b <<< "$pair"
        "$KINFS" compare --store=store "$SOURCE/$a" "$SOURCE/$b" > said || fail "stored: $pair"
        expect_equal "stored: $pair" 0 "$(grep -cE 'the same|1\.0000' said)"
    done
    expect_match 'stored: one text' 'the same text' "$("$KINFS" compare --store=store "$SOURCE/a" "$SOURCE/a.copy")"
    expect_equal 'similar' 'a.copy' "$("$KINFS" similar --store=store -t 1 "$SOURCE/a" | cut -f 2)"
    rm -r store
done

# What is exact is the same under any key: which cells of a long row are pairs, too.
for name in wide wider; do
    for row in 1 2 3 4 5; do
        echo "$name,$(seq -s , "$row" "$((row + 14))")"
    done > "$name"
done
for _ in 1 2 3; do
    "$KINFS" compare --exact wide wider
    echo
done | awk -v RS= '!seen[$0]++' > said
expect_equal 'under any key' 3 "$(wc -l < said)"
expect_match 'of a table' 'resemblance +0\.[1-9]' "$(< said)"
