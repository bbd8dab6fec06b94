// Markdown that can still be growing. Each block is rendered separately; final blocks are not
// rendered again.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useRef } from 'preact/hooks';
import { parse, nothing } from '../markdown/blocks';
import type { Block, Parsed } from '../markdown/blocks';
import { Code } from './code';
import { Nodes } from './nodes';

export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }): JSX.Element {
  const parsed = useRef<Parsed>(nothing);
  if (parsed.current.text !== text || parsed.current === nothing) parsed.current = parse(text, parsed.current);
  const { done, rest } = parsed.current;
  const blocks = [...done, ...rest];
  return (
    <div class={live ? 'markdown live' : 'markdown'}>
      {blocks.map((b: Block, i) => {
        const growing = live && i === blocks.length - 1;
        if (b.kind === 'nodes') return <Nodes key={i} nodes={b.nodes} files={!growing} />;
        const unfinished = growing && !b.closed;
        return (
          <Code key={i} code={b.code} language={b.language} live={unfinished} actions={!unfinished} file={b.file} />
        );
      })}
    </div>
  );
});
