# sed -zE: what is linked to and not installed beside the other documents is its text: manual pages, which are elsewhere, and what is
# for who changes the program.
s,\[([^]]*)\]\((\.\./|docs/)*(man/|design/|decisions/|tests/|(ARCHITECTURE|CONTRIBUTING|ON_DISK)\.md)[^)]*\),\1,g
