// Stands in for the module vscode and the client library while a test activates the extension: everything can
// be called and gives more of the same, and what is registered is written down.
const fs = require('node:fs');
const path = require('node:path');

const registered = { commands: [], views: [], settings: [] };

/**
 * The options of the language client, the notifications that are sent to the server and their methods, and the handlers
 * of its requests.
 */
const server = { options: undefined, notifications: [], sent: [], handlers: {} };

const written = {
  'commands.registerCommand': (id) => void registered.commands.push(id),
  'window.createTreeView': (id) => void registered.views.push(id),
  'window.registerWebviewViewProvider': (id) => void registered.views.push(id),
  'workspace.getConfiguration': (section) => ({
    get: (name, otherwise) => {
      registered.settings.push(`${section}.${name}`);
      return otherwise;
    },
    inspect: (name) => void registered.settings.push(`${section}.${name}`),
  }),
  'l10n.t': (text) => text,
  'new LanguageClient': (_id, _name, _run, options) => void (server.options = options),
  'new LanguageClient.sendNotification': (method, params) => {
    server.notifications.push(method);
    server.sent.push({ method, params });
  },
  'new LanguageClient.onRequest': (method, handler) => void (server.handlers[method] = handler),
};

/** What is looked into rather than called. */
const values = {
  'workspace.workspaceFolders': undefined,
  'workspace.textDocuments': [],
  'workspace.isTrusted': true,
  'window.activeTextEditor': undefined,
  'window.tabGroups.all': [],
  'env.language': 'en',
  version: '1.91.0',
};

function anything(name) {
  return new Proxy(function () {}, {
    get: (_target, key) => {
      if (typeof key === 'symbol' || key === 'then') {
        return undefined;
      }
      if (key === 'prototype') {
        return {};
      }
      const at = `${name}.${key}`;
      return at in values ? values[at] : anything(at);
    },
    set: () => true,
    apply: (_target, _self, args) => written[name]?.(...args) ?? anything(`${name}()`),
    construct: (_target, args) => {
      written[`new ${name}`]?.(...args);
      return anything(`new ${name}`);
    },
  });
}

// An import asks which names there are: every word of the sources.
const sources = fs.readdirSync('src', { recursive: true }).filter((file) => file.endsWith('.ts'));
const used = sources.flatMap((file) => fs.readFileSync(path.join('src', file), 'utf8').match(/\b[a-z]\w*/gi) ?? []);
const own = { registered, server, values };
const names = [...new Set([...used, ...Object.keys(own)])];

const member = (key) => own[key] ?? (key in values ? values[key] : anything(key));

module.exports = new Proxy(
  {},
  {
    get: (_target, key) => (typeof key === 'symbol' || key === '__esModule' ? undefined : member(key)),
    ownKeys: () => names,
    getOwnPropertyDescriptor: (_target, key) => ({ value: member(key), configurable: true, enumerable: true }),
  },
);
