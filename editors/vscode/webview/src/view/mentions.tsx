// Texts with links to the files that they mention.

import { Fragment } from 'preact';
import type { ComponentChildren, JSX } from 'preact';
import { hrefOf, mentionsIn } from '../markdown/mentions';
import type { Mention } from '../markdown/mentions';
import { useFileIn } from './use';

/** A mention of a file, which becomes a link once it is known to be one of the workspace. */
function FileLink({ mention, text }: { mention: Mention; text: string }): JSX.Element {
  const is = useFileIn(mention.path);
  return is ? (
    <a class="file" href={hrefOf(mention)}>
      {text}
    </a>
  ) : (
    <>{text}</>
  );
}

/** Returns a text with its mentions of files as links. */
export function withFileLinks(text: string): ComponentChildren {
  const mentions = mentionsIn(text);
  if (mentions.length === 0) return text;
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const m of mentions) {
    out.push(text.slice(at, m.from), <FileLink mention={m} text={text.slice(m.from, m.to)} />);
    at = m.to;
  }
  out.push(text.slice(at));
  return <Fragment>{out}</Fragment>;
}
