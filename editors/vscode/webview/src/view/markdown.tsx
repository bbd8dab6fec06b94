// Markdown that may still be growing. Each block is drawn by itself; those that are done stay as they are.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo, useRef } from 'preact/hooks';
import { parse, nothing } from '../markdown/blocks';
import type { Block, Parsed } from '../markdown/blocks';
import { clean } from '../markdown/clean';
import { Code } from './code';

const Html = memo(function Html({ html }: { html: string }): JSX.Element {
  const safe = useMemo(() => clean(html), [html]);
  return <div class="html" dangerouslySetInnerHTML={{ __html: safe }} />;
});

export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }): JSX.Element {
  const parsed = useRef<Parsed>(nothing);
  if (parsed.current.text !== text || parsed.current === nothing) parsed.current = parse(text, parsed.current);
  const { done, rest } = parsed.current;
  const blocks = [...done, ...rest];
  return (
    <div class={live ? 'markdown live' : 'markdown'}>
      {blocks.map((b: Block, i) =>
        b.kind === 'code' ? (
          <Code key={i} code={b.code} language={b.language} live={live && !b.closed && i === blocks.length - 1} />
        ) : (
          <Html key={i} html={b.html} />
        ),
      )}
    </div>
  );
});
