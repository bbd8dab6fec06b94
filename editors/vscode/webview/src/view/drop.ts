// Files that are dropped on the page, or pasted. VS Code gives them to a webview only while Shift is held.

import type { TargetedDragEvent } from 'preact';
import { useState } from 'preact/hooks';
import { maxDroppedBytes } from '../../../src/chat/messages';
import { t } from '../l10n';
import { imageTypes } from '../markdown/image';
import type { Page } from '../page/page';

/** Returns the bytes of a file in base64. */
function contentOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
}

/** Attaches the images among the files. It reports whether there are any. */
export function takePictures(files: readonly File[], add: (mimeType: string, data: string) => void): boolean {
  const pictures = files.filter((f) => imageTypes.includes(f.type));
  for (const file of pictures) void contentOf(file).then((data) => add(file.type, data));
  return pictures.length > 0;
}

/** Returns the URIs of a drag from the explorer, an editor tab, or another list of the window. */
export function urisOf(data: Pick<DataTransfer, 'getData'>): string[] {
  const listed = data.getData('application/vnd.code.uri-list') || data.getData('text/uri-list');
  if (listed) return listed.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  try {
    const resources: unknown = JSON.parse(data.getData('resourceurls') || '[]');
    return Array.isArray(resources) ? resources.filter((uri): uri is string => typeof uri === 'string') : [];
  } catch {
    return [];
  }
}

/** Attaches files from outside of the window, whose paths the page does not get. */
async function takeFiles(page: Page, items: readonly DataTransferItem[]): Promise<void> {
  const entries = items.map((item) => ({ file: item.getAsFile(), folder: item.webkitGetAsEntry?.()?.isDirectory }));
  for (const { file, folder } of entries) {
    if (folder) page.notice('info', t('Drop a folder from the Explorer, or type @ and its path.'));
    else if (!file || imageTypes.includes(file.type)) continue;
    else if (file.size > maxDroppedBytes)
      page.notice('warning', t("Couldn't attach {0}: it is larger than {1} MB.", file.name, maxDroppedBytes >> 20));
    else
      await contentOf(file).then(
        (data) => page.store.send({ kind: 'droppedFile', name: file.name, data }),
        () => page.notice('warning', t("Couldn't read {0}.", file.name)),
      );
  }
}

function take(page: Page, data: DataTransfer): void {
  const uris = urisOf(data);
  if (uris.length > 0) {
    page.store.send({ kind: 'dropped', uris: uris.slice(0, 1000) });
  } else {
    takePictures([...data.files], (mimeType, bytes) => page.addPicture(mimeType, bytes));
    void takeFiles(
      page,
      [...data.items].filter(({ kind }) => kind === 'file'),
    );
  }
  page.backToComposer();
}

const fileTypes = /^(files|codefiles|resourceurls|text\/uri-list|application\/vnd\.code\.uri-list)$/i;

/** Reports whether a drag has files, and not only a text. */
const hasFiles = ({ types }: DataTransfer) => types.some((type) => fileTypes.test(type));

type Handler = (e: TargetedDragEvent<HTMLElement>) => void;

/** Accepts drops anywhere on an element. dragging is true while files are over it. */
export function useDrop(
  page: Page,
  accepts: boolean,
): { dragging: boolean; handlers: { onDragOver: Handler; onDragLeave: Handler; onDrop: Handler } } {
  const [dragging, setDragging] = useState(false);
  const handlers = {
    onDragOver: (e: TargetedDragEvent<HTMLElement>) => {
      if (!e.dataTransfer || !hasFiles(e.dataTransfer)) return;
      e.preventDefault();
      e.dataTransfer.dropEffect = accepts ? 'copy' : 'none';
      setDragging(accepts);
    },
    onDragLeave: (e: TargetedDragEvent<HTMLElement>) => {
      if (!(e.relatedTarget instanceof Node) || !e.currentTarget.contains(e.relatedTarget)) setDragging(false);
    },
    onDrop: (e: TargetedDragEvent<HTMLElement>) => {
      setDragging(false);
      if (!e.dataTransfer || !hasFiles(e.dataTransfer)) return;
      e.preventDefault(); // the page must not navigate to the file
      if (accepts) take(page, e.dataTransfer);
    },
  };
  return { dragging, handlers };
}
