// The whole page, and the only code that follows links.

import type { JSX } from 'preact';
import { t } from '../l10n';
import type { Page } from '../page/page';
import { targetOf } from '../markdown/links';
import { Approvals } from './approvals';
import { ChangesBar } from './changes';
import { Composer } from './composer';
import { Conversation } from './conversation';
import { Crash } from './crash';
import { useDrop } from './drop';
import { useFocusKeeper } from './focus';
import { EngineTexts } from './foot';
import { Head } from './head';
import { Questions } from './questions';
import { ReadingBar, ReadingHead } from './reading';
import { RewindQuestion } from './rewind';
import { Spoken } from './spoken';
import { Status } from './status';
import { Ways } from './ways';
import { PageContext, usePage, useUi } from './use';

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
        <ReadingHead reading={reading} />
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
        <ChangesBar />
        <Composer />
        <EngineTexts />
      </div>
      <Spoken />
      <RewindQuestion />
    </>
  );
}

/** The page with what works everywhere on it: links, drops, and a focus that is not lost. */
function Whole(): JSX.Element {
  const page = usePage();
  const accepts = useUi((u) => u.init !== null && u.init.reading === undefined && u.init.trusted);
  const { dragging, handlers } = useDrop(page, accepts);
  useFocusKeeper();
  return (
    <main
      class={dragging ? 'page dragging' : 'page'}
      onClick={(e) => follow(page, e)}
      onAuxClick={(e) => follow(page, e)}
      {...handlers}
    >
      <Parts />
      {dragging && (
        <div class="drop-target">
          <p>{t('Drop to attach')}</p>
        </div>
      )}
    </main>
  );
}

export function App({ page }: { page: Page }): JSX.Element {
  return (
    <PageContext.Provider value={page}>
      <Whole />
    </PageContext.Provider>
  );
}
