// Finds user-visible words in the sources of the page that are not translated.

import { createRequire as requiring } from 'node:module';
import path from 'node:path';
import type TypeScript from 'typescript';

// The tests run in the directory of the extension. The compiler is too large to be bundled with them.
const ts = requiring(path.resolve('package.json'))('typescript') as typeof TypeScript;

type Node = TypeScript.Node;
type Call = TypeScript.CallExpression;

/** Attributes of elements, and properties of the page's own components, that users read. */
const readAttributes = ['alt', 'aria-label', 'aria-description', 'aria-roledescription', 'aria-valuetext'].concat([
  'label',
  'placeholder',
  'summary',
  'title',
]);

/** Attributes whose values are never shown. */
const quietAttributes = ['class', 'd', 'transform', 'viewBox'];

const letters = /\p{L}/u;
/** Matches texts unlike a program's identifiers: several words, or an initial capital letter. */
const sentence = /^\p{Lu}|\p{L}[,.;:]?\s+\p{L}/u;

function parsed(name: string, source: string): TypeScript.SourceFile {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true, kind);
}

function* below(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* below(child);
}

function place(node: Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

const isTranslation = (node: Node): node is Call =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't';

/** Returns the words that a node itself contains, "" if none. */
function wordsOf(node: Node): string {
  const own =
    ts.isStringLiteralLike(node) ||
    ts.isJsxText(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node);
  return own && letters.test(node.text) ? node.text.trim() : '';
}

/** Reports whether a value can become the value of its parent. */
function goesThrough(node: Node, parent: Node): boolean {
  if (ts.isConditionalExpression(parent)) return node !== parent.condition;
  if (ts.isBinaryExpression(parent)) return !isComparison(parent);
  return ts.isParenthesizedExpression(parent) || ts.isTemplateSpan(parent) || ts.isTemplateExpression(parent);
}

function isComparison(node: TypeScript.BinaryExpression): boolean {
  const signs = [
    ts.SyntaxKind.EqualsEqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsEqualsToken,
    ts.SyntaxKind.InKeyword,
  ];
  return signs.includes(node.operatorToken.kind as (typeof signs)[number]);
}

/** Reports whether the value of a node is rendered as readable text. */
function isDrawn(node: Node): boolean {
  if (ts.isJsxText(node)) return true;
  let value = node;
  while (goesThrough(value, value.parent)) value = value.parent;
  const holder = ts.isJsxExpression(value.parent) ? value.parent.parent : value.parent;
  if (ts.isJsxAttribute(holder)) return readAttributes.includes(holder.name.getText());
  return ts.isJsxExpression(value.parent);
}

/** Reports whether a text is only for the program, whatever its wording. */
function isQuiet(node: Node): boolean {
  for (let at = node; at.parent; at = at.parent) {
    const { parent } = at;
    if (ts.isImportDeclaration(parent) || ts.isTypeNode(parent) || ts.isCaseClause(parent)) return true;
    if (ts.isPropertyAssignment(parent) && at === parent.name) return true;
    if (ts.isBinaryExpression(parent) && isComparison(parent)) return true;
    if (ts.isElementAccessExpression(parent) && at === parent.argumentExpression) return true;
    if (ts.isNewExpression(parent) && parent.expression.getText() === 'Error') return true;
    if (ts.isJsxAttribute(parent)) return quietAttributes.includes(parent.name.getText());
    if (ts.isBlock(parent)) return false;
  }
  return false;
}

/** Returns the texts of a source that are rendered, or look like it, without a call of t. */
export function untranslated(name: string, source: string): string[] {
  return [...below(parsed(name, source))]
    .filter((node) => wordsOf(node) !== '' && !isTranslation(node.parent))
    .filter((node) => isDrawn(node) || (sentence.test(wordsOf(node)) && !isQuiet(node)))
    .map((node) => `${place(node)}: ${wordsOf(node)}`);
}

function faultOf(call: Call): string | undefined {
  const [text, ...values] = call.arguments;
  if (!text || !ts.isStringLiteral(text)) return 'is not one quoted text';
  const named = new Set([...text.text.matchAll(/\{(\d+)\}/g)].map(([, n]) => Number(n)));
  if (named.size !== values.length || [...named].some((n) => n >= values.length)) return 'does not use its values';
  for (let at: Node = call; at.parent; at = at.parent) if (ts.isFunctionLike(at)) return undefined;
  return 'is translated before the translations are there';
}

/** Returns the calls of t that cannot work. */
export function misused(name: string, source: string): string[] {
  return [...below(parsed(name, source))].filter(isTranslation).flatMap((call) => {
    const fault = faultOf(call);
    return fault ? [`${place(call)}: ${call.arguments[0]?.getText() ?? ''} ${fault}`] : [];
  });
}
