// The whole page, and the only code that follows links.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Page } from '../page';
import { engineName } from '../engine';
import { t } from '../l10n';
import { targetOf } from '../markdown/links';
import type { Item } from '../state/model';
import { plainText } from '../state/wire';
import { Approvals } from './approvals';
import { Composer } from './composer';
import { Conversation } from './conversation';
import { Crash } from './crash';
import { EngineTexts } from './foot';
import { Head } from './head';
import { Questions } from './questions';
import { ReadingBar } from './reading';
import { Status } from './status';
import { Ways } from './ways';
import { PageContext, useChat, usePage, useUi } from './use';

/** Reports whether the user stopped a turn in its last message, or in the calls of it. */
const wasStopped = (last: Item | undefined): boolean =>
  last?.message.stopReason === 'aborted' || Object.values(last?.calls ?? {}).some((c) => c.status === 'stopped');

/** Announces an answer to screen readers when it is complete, not piece by piece. */
function Spoken(): JSX.Element {
  const page = usePage();
  const spoken = useUi((u) => u.spoken);
  const running = useChat((s) => s.view.running);
  const program = useChat((s) => engineName(s.view.engine));
  const was = useRef(running);
  useEffect(() => {
    if (was.current && !running) {
      const last = page.store.state.view.items.at(-1);
      const text = last?.message.role === 'assistant' ? plainText(last.message.content).slice(0, 600) : '';
      if (wasStopped(last)) page.speak(t('{0} was stopped', program));
      else page.speak(text ? `${program}: ${text}` : t('{0} finished', program));
    } else if (running && !was.current && page.store.state.view.approvals.length === 0) {
      page.speak(t('{0} is working', program)); // a pending question is announced instead
    }
    was.current = running;
  }, [running, page, program]);
  return (
    <div class="unseen" aria-live="polite" aria-atomic="true">
      {spoken}
    </div>
  );
}

/** Follows a link via the extension; the page itself never navigates. */
function follow(page: Page, e: MouseEvent): void {
  const link = (e.target as Element | null)?.closest?.('a');
  if (!link) return;
  e.preventDefault();
  const target = targetOf(link.getAttribute('href') ?? '');
  if (target?.kind === 'web') page.store.send({ kind: 'openLink', url: target.url });
  if (target?.kind === 'file') page.store.send({ ...target, kind: 'openFile' });
}

/** The content of the page. Nothing is rendered before the texts of the window's language have arrived. */
function Parts(): JSX.Element | null {
  const begun = useUi((u) => u.init !== null);
  const reading = useUi((u) => u.init?.reading);
  if (!begun) return null;
  if (reading)
    return (
      <>
        <Conversation />
        <div class="dock">
          <ReadingBar reading={reading} />
        </div>
        <Spoken />
      </>
    );
  return (
    <>
      <Head />
      <Conversation />
      <div class="dock">
        <Approvals />
        <Questions />
        <Crash />
        <Ways />
        <Status />
        <Composer />
        <EngineTexts />
      </div>
      <Spoken />
    </>
  );
}

export function App({ page }: { page: Page }): JSX.Element {
  return (
    <PageContext.Provider value={page}>
      <main class="page" onClick={(e) => follow(page, e)} onAuxClick={(e) => follow(page, e)}>
        <Parts />
      </main>
    </PageContext.Provider>
  );
}
