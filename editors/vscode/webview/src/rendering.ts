// The code that the exported page shares with the panel. scripts/rendering.mjs bundles it, with the
// packages it imports, into session/export/viewer/rendering.gen.js.

export { editsOf, patchOfTexts, rowsOfPatch } from './diff/rows';
export { highlight, languageOf } from './markdown/highlight';
export { textOf } from './markdown/nodes';
export { parseMarkdown } from './markdown/parser';
