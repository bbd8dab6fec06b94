// Starts the page in a webview. The extension sends nothing to it before it reports that it is
// ready.

import { render } from 'preact';
import type { FromPage } from '../../src/chat/messages';
import { Page } from './page/page';
import { App } from './view/app';
import './style/main.css';

declare function acquireVsCodeApi(): {
  postMessage(m: FromPage): void;
  getState(): unknown;
  setState(s: unknown): void;
};

const vscode = acquireVsCodeApi();
const page = new Page({
  post: (m) => vscode.postMessage(m),
  load: () => vscode.getState(),
  save: (kept) => vscode.setState(kept),
});
window.addEventListener('message', (e) => page.store.receive(e.data));
const focused = (on: boolean) => vscode.postMessage({ kind: 'focused', on });
window.addEventListener('focus', () => focused(true));
window.addEventListener('blur', () => focused(false));
const root = document.getElementById('root');
if (root) render(<App page={page} />, root);
vscode.postMessage({ kind: 'ready' });
focused(document.hasFocus());
