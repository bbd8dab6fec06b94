// The announcements for screen readers: each event once, when it is complete, and not piece by piece.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { engineName } from '../engine';
import { t } from '../l10n';
import type { Item, View } from '../state/model';
import { plainText, str } from '../state/wire';
import { useChat, usePage, useUi } from './use';

const maxAnswer = 600; // characters

/** Reports whether the user stopped a turn in its last message, or in the calls of it. */
const wasStopped = (last: Item | undefined): boolean =>
  last?.message.stopReason === 'aborted' || Object.values(last?.calls ?? {}).some((c) => c.status === 'stopped');

/** Returns the announcement of the end of a turn, "" if a notice with role alert already says it. */
function endOf(view: View, program: string): string {
  const last = view.items.at(-1);
  const message = last?.message;
  if (view.crash) return '';
  if (wasStopped(last)) return t('{0} was stopped', program);
  if (message?.role !== 'assistant') {
    const failed = view.notices.some((n) => n.tone === 'error' && n.turns === view.turns);
    return failed ? '' : t('{0} finished', program);
  }
  if (message.stopReason === 'error') return visible(str(message.errorMessage)) || t('The request failed.');
  const text = plainText(message.content).slice(0, maxAnswer);
  return text ? `${program}: ${text}` : t('{0} finished', program);
}

/** The region of announcements. */
export function Spoken(): JSX.Element {
  const page = usePage();
  const spoken = useUi((u) => u.spoken);
  const running = useChat((s) => s.view.running);
  const program = useChat((s) => engineName(s.view.engine));
  const was = useRef(running);
  useEffect(() => {
    const { view } = page.store.state;
    if (was.current && !running) page.speak(endOf(view, program));
    else if (running && !was.current && view.approvals.length === 0) page.speak(t('{0} is working', program)); // a pending question is announced instead
    was.current = running;
  }, [running, page, program]);
  return (
    <div class="unseen" aria-live="polite" aria-atomic="true">
      {spoken}
    </div>
  );
}
