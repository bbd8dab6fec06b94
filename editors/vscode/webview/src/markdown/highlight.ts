// Syntax highlighting. Only the languages that are common in coding sessions are bundled.

import core from 'highlight.js/lib/core';
import type { Emitter, LanguageFn } from 'highlight.js';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages: Record<string, LanguageFn> = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

/** A scope of highlight.js without its prefix, such as `title.function`, and the text that it covers; "" is none. */
export type Span = readonly [scope: string, text: string];

/** Collects spans instead of HTML. A text belongs to the innermost scope that has a color. */
class SpanEmitter implements Emitter {
  readonly spans: [string, string][] = [];
  private readonly open: string[] = [];

  addText(text: string): void {
    if (text === '') return;
    const scope = this.open.at(-1) ?? '';
    const last = this.spans.at(-1);
    if (last?.[0] === scope) last[1] += text;
    else this.spans.push([scope, text]);
  }

  openNode(scope: string): void {
    this.open.push(plain.test(scope) ? (this.open.at(-1) ?? '') : scope);
  }

  closeNode(): void {
    this.open.pop();
  }

  startScope(scope: string): void {
    this.openNode(scope);
  }

  endScope(): void {
    this.closeNode();
  }

  __addSublanguage(emitter: SpanEmitter): void {
    const outer = this.open.at(-1) ?? '';
    for (const [scope, text] of emitter.spans) this.spans.push([scope || outer, text]);
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }
}

/** Scopes without a color. */
const plain = /^(?:class|code|formula|function|language:|link|operator|punctuation|selector-(?:attr|pseudo)$)/;

const hljs = core.newInstance();
hljs.configure({ __emitter: SpanEmitter as never });
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['jsonc', 'json5', 'jsonl'], { languageName: 'json' });
hljs.registerAliases(['shell', 'console', 'shellsession', 'fish'], { languageName: 'bash' });
hljs.registerAliases(['vue', 'svelte'], { languageName: 'xml' });

/** The maximum length of code to highlight, in UTF-16 units. */
export const maxHighlighted = 60_000;

/**
 * Returns the spans of code; joined, their texts equal the code. Code that is too long or of an
 * unknown language is one span.
 */
export function highlight(code: string, language: string): readonly Span[] {
  if (language === '' || code.length > maxHighlighted || !hljs.getLanguage(language)) return [['', code]];
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  if (result.illegal || result.errorRaised) return [['', code]]; // its spans cover only the beginning
  return (result._emitter as unknown as SpanEmitter).spans;
}

const byEnding: Record<string, string> = {
  bash: 'bash',
  c: 'c',
  cc: 'cpp',
  cjs: 'javascript',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  cts: 'typescript',
  go: 'go',
  h: 'c',
  hpp: 'cpp',
  htm: 'xml',
  html: 'xml',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsonc: 'json',
  jsonl: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  lua: 'lua',
  md: 'markdown',
  mjs: 'javascript',
  mk: 'makefile',
  mts: 'typescript',
  php: 'php',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  sql: 'sql',
  svg: 'xml',
  swift: 'swift',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  zsh: 'bash',
};
const byName: Record<string, string> = { dockerfile: 'dockerfile', makefile: 'makefile' };

/** Returns the language of a file by its name, "" if it is unknown. */
export function languageOf(path: string): string {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? '';
  const ending = name.split('.').at(-1) ?? '';
  if (Object.hasOwn(byName, name)) return byName[name]!;
  return Object.hasOwn(byEnding, ending) ? byEnding[ending]! : '';
}
