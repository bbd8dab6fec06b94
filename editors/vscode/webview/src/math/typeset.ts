// Typesets formulas with KaTeX. This part of the page is a script of its own, media/math.js, which is loaded with the first
// formula. A model wrote the formulas: commands with addresses, HTML or definitions are refused, everything else is bounded,
// and the elements that result are checked.

import katex from 'katex';
import 'katex/dist/katex.css';
import type { Typeset } from '../view/mathScript';

/** Commands that name addresses, add attributes, or define others, so that a short text could become a long one. */
const refused =
  /\\(?:href|url|includegraphics|html[A-Za-z]*|(?:[egx]|long|global|g?let|future)*def|global|long|let|futurelet|(?:re)?newcommand|providecommand|(?:err)?message|show)(?![A-Za-z])/;

/** The maximum nesting of groups, environments and delimiters. */
const maxDepth = 40;
/** The maximum number of elements of a formula. */
const maxElements = 20_000;

const options = {
  throwOnError: true,
  trust: false,
  strict: 'ignore',
  maxExpand: 500,
  maxSize: 20, // of a space or a rule, in em
  output: 'htmlAndMathml',
} as const;

const svgName = /^(?:svg|path|line|g)$/;
const mathName =
  /^(?:math|semantics|annotation|mrow|mi|mo|mn|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mlabeledtr|mtd|mstyle|mpadded|mphantom|menclose)$/;
const attribute =
  /^(?:class|style|aria-hidden|xmlns|encoding|display|math(?:variant|color|background|size)|stretchy|fence|separator|[lr]space|minsize|maxsize|accent|accentunder|linethickness|displaystyle|scriptlevel|columnalign|(?:row|column)(?:spacing|lines|align)|width|height|depth|voffset|notation|side|movablelimits|largeop|symmetric|viewBox|preserveAspectRatio|d|[xy][12]|stroke-width|form)$/;

const namesOf: Readonly<Record<string, RegExp>> = {
  'http://www.w3.org/1999/xhtml': /^span$/,
  'http://www.w3.org/2000/svg': svgName,
  'http://www.w3.org/1998/Math/MathML': mathName,
};

/** Reports whether an element is one that a formula needs, with harmless attributes. */
const isHarmless = (el: Element): boolean =>
  namesOf[el.namespaceURI ?? '']?.test(el.localName) === true &&
  [...el.attributes].every((a) => attribute.test(a.name));

function isTooDeep(tex: string): boolean {
  let depth = 0;
  for (const [token] of tex.matchAll(/\\(?:begin|left|end|right)(?![A-Za-z])|\\[^]|[{}]/g)) {
    if (token === '{' || token === '\\begin' || token === '\\left') depth++;
    else if (token === '}' || token === '\\end' || token === '\\right') depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Returns the element of a formula; undefined if it cannot be typeset. */
const typeset: Typeset = (tex, display) => {
  if (refused.test(tex) || isTooDeep(tex)) return undefined;
  const box = document.createElement('span');
  try {
    katex.render(tex, box, { ...options, displayMode: display });
  } catch {
    return undefined; // not a formula that KaTeX knows
  }
  const all = [...box.querySelectorAll('*')];
  return all.length <= maxElements && all.every(isHarmless) ? box : undefined;
};

Object.assign(globalThis, { xcshTypeset: typeset });
