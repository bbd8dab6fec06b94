package setup

// xcshNames are the files with instructions in each directory, all of which hold: XCSH.md, and the first of
// the others.
var xcshNames = [][]string{{"XCSH.md"}, {"AGENTS.md", "CLAUDE.md"}}
