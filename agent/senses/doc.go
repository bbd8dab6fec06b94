// Package senses lets a model use what the user's editor knows about code: the problems that language servers report,
// definitions, references, symbols, renames, the open editors and the selection.
//
//	s := senses.New(senses.Options{Editor: editor, Files: files})
//	t, ok := s.Tool(false)     // the tool lsp, if the editor can be asked for anything
//	edit = s.Diagnosing(edit)  // adds the new errors of the file to the results of edit
//
// # Trust
//
// An answer of the editor is not trusted: language servers of a repository contribute to it. Values of a wrong shape are
// left out, lists and texts are cut, and texts are shown without control characters. Of a file with credentials only the
// position is shown. An editor that does not answer costs the time limit of the call and nothing more.
//
// An answer changes nothing. The edits of a rename or a code action are applied to the files as this program sees them,
// the user approves the difference, and the files are then written like those of the tool edit. Only the approved
// difference is written, even if the editor gives another answer later.
package senses
