#!/usr/bin/env bash
# A document that kinfs similar asks a mount about goes to that mount's daemon, and nowhere else: not where another user has made the
# names that lead there, in the tree or above the mount.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip "only root has something to hide from all others"
needs_fuse
needs python3 setpriv
python=/usr/bin/python3 # which he may run
[[ -x $python ]] || skip "$python is not installed"
ORDINARY=54321
HIS=$SCRATCH/his
NAME='document,records,threshold=0.40000000000000002,limit=100'

him=(setpriv --reuid=$ORDINARY --regid=$ORDINARY --clear-groups)
chmod 755 "$SCRATCH"
words 1 200 > "$SCRATCH/secret"
chmod 600 "$SCRATCH/secret"
SECRET=$(head -c 20 "$SCRATCH/secret")
mkdir "$HIS"
chown $ORDINARY "$HIS"
learnt() { # whether he can read what root has asked about
    "${him[@]}" grep -rqF -- "$SECRET" "$HIS" 2> /dev/null
}
# In a mount over itself a directory of his, in which there is what looks like the way to a mount's questions.
"${him[@]}" mkdir -p "$HIS/a/docs/evil/docs/.kinfs/query" "$HIS/tree/.kinfs/query"
"${him[@]}" touch "$HIS/a/docs/evil/docs/.kinfs/query/$NAME" "$HIS/tree/.kinfs/query/$NAME"

# take POINT: whatever is written into a new name there is his.
take() {
    mkfifo "$SCRATCH/taker"
    python3 "$LIB/file_systems/question_taker.py" "$1" $ORDINARY "$HIS/taken" > "$SCRATCH/taker" &
    read -r said < "$SCRATCH/taker" && [[ $said = ready ]] || fail "no mount"
    rm "$SCRATCH/taker"
}

# -- a mount that takes no questions, of a tree in which somebody else does: the way there is the daemon's in this one too --

mkdir -p "$MNT"
for how in there empty taking; do
    [[ $how != taking ]] || take "$HIS/tree/.kinfs/query"
    "$KINFS" mount -o nosketch "$HIS/tree" "$MNT"
    expect_code 3 "$KINFS" similar --tree="$MNT" "$SCRATCH/secret"
    expect_match "a mount without an index: $how" "^kinfs: $MNT: mounted with -o nosketch" "$OUT"
    ! learnt || fail "he has what was asked"
    expect_equal "what is seen of it" "" "$(ls -A "$MNT")"
    expect_code 1 stat "$MNT/.kinfs/query"
    expect_match "a look at it" "No such file" "$OUT"
    "$KINFS" umount "$MNT"
    [[ $how = taking ]] || "${him[@]}" rm -f "$HIS/tree/.kinfs/query/$NAME"
done
soon 'what is over the questions is let go of' umount "$HIS/tree/.kinfs/query"
wait
expect_equal "what is left there" "" "$(ls -A "$HIS/tree/.kinfs/query")"

# -- a directory of his that is mounted elsewhere, too --

"${him[@]}" mkdir -p "$HIS/shown/sub/.kinfs/query"
take "$HIS/shown/sub/.kinfs/query"
mkdir "$SCRATCH/bound"
for how in store="$SCRATCH/other" nosketch; do
    "$KINFS" mount -o "$how" "$HIS/shown" "$MNT"
    mount --bind "$MNT/sub" "$SCRATCH/bound"
    "$KINFS" similar --tree="$SCRATCH/bound" "$SCRATCH/secret" > /dev/null 2>&1 || true
    ! learnt || fail "he has what was asked of a directory of $how"
    umount "$SCRATCH/bound"
    "$KINFS" umount "$MNT"
done
soon 'what is over the questions is let go of' umount "$HIS/shown/sub/.kinfs/query"
wait

# -- another mount over a directory above --

"$KINFS" mount -o store="$SCRATCH/store" "$HIS/a/docs"
mkfifo "$SCRATCH/ready"
cd "$HIS/a/docs"
expect_code 1 "$KINFS" similar --tree=. "$SCRATCH/secret"
python3 "$LIB/file_systems/hostile_mount.py" "$HIS" /elsewhere "$SCRATCH/said" $ORDINARY "$SCRATCH/log" > "$SCRATCH/ready" &
read -r said < "$SCRATCH/ready" && [[ $said = ready ]] || fail "no mount"
expect_code 3 "$KINFS" similar --tree=. "$SCRATCH/secret"
! grep -E 'getxattr|open|access|create|write' "$SCRATCH/log" || fail "another user's mount was asked"
umount "$HIS"
wait

# -- a directory above that is another one every moment --

"${him[@]}" ln -s b/docs/evil "$HIS/b"
cat > "$SCRATCH/exchange.py" << 'EOF'
import ctypes, sys
libc = ctypes.CDLL(None)
print("ready", flush=True)
while libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) == 0:
    pass
EOF
"${him[@]}" "$python" "$SCRATCH/exchange.py" "$HIS/a" "$HIS/b" > "$SCRATCH/ready" &
EXCHANGES=$!
read -r said < "$SCRATCH/ready" && [[ $said = ready ]] || fail "nothing is exchanged"
for _ in {1..60}; do
    code=0
    "$KINFS" similar --tree=. "$SCRATCH/secret" > /dev/null 2>&1 || code=$?
    [[ $code = 1 || $code = 3 ]] || fail "exit code $code" # else it was found
done
kill $EXCHANGES
wait $EXCHANGES || true
cd "$SCRATCH"
point=$HIS/a/docs
[[ ! -L $HIS/a ]] || point=$HIS/b/docs
! learnt || fail "he has what was asked"
"$KINFS" umount "$point"
