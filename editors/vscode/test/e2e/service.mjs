// A local model service with scripted answers and timing.
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The usual places of model servers on a machine, which the server looks at. */
const places = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'vLLM', port: 8000 },
];

/** Answers as model servers list their models: Ollama's way, and that of the others. */
function listed(url, models) {
  if (url === '/api/tags' || url === '/api/ps') {
    return { models: models.map((name) => ({ name, context_length: 32_000 })) };
  }
  return url === '/v1/models' ? { data: models.map((id) => ({ id })) } : undefined;
}

/** Starts a service at the first usual place of this machine that is free. name: of the program that is usually there. */
export async function serveLocal(models, answers) {
  for (const { name, port } of places) {
    try {
      return { ...(await serve(answers, { port, models })), name };
    } catch (error) {
      if (error.code !== 'EADDRINUSE') {
        throw error;
      }
    }
  }
  throw new Error('All usual places of model servers are in use.');
}

/**
 * Starts a service. answers: {text?, calls?: [{id, name, args}], held?: Promise} in the order of the
 * requests; with held, the end of the text is sent when the promise is settled. keys: the API keys of
 * the requests. provider(key, id): the service as a provider in a models.json.
 */
export async function serve(answers, { port = 0, models = [] } = {}) {
  const requests = [];
  const keys = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) {
      body += part;
    }
    if (!request.url.includes('chat/completions')) {
      const list = models.length > 0 && listed(request.url, models);
      response.writeHead(list ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(list || {}));
      return;
    }
    requests.push(JSON.parse(body));
    keys.push(request.headers.authorization?.replace(/^Bearer /, ''));
    const answer = answers.shift() ?? { text: 'Nothing more.' };
    const say = (delta, finish = null) =>
      response.write(
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const words = (answer.text ?? '').match(/\S+\s*/g) ?? [];
    for (const [i, word] of words.entries()) {
      say({ content: word });
      if (i === Math.floor(words.length / 2)) {
        await answer.held;
      }
    }
    (answer.calls ?? []).forEach((call, index) =>
      say({
        tool_calls: [
          { index, id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } },
        ],
      }),
    );
    say({}, answer.calls ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const provider = (apiKey, id = 'm') => ({
    baseUrl,
    api: 'openai-completions',
    apiKey,
    models: [{ id, name: id, contextWindow: 32_000, maxTokens: 4000, input: ['text'] }],
  });
  return { requests, keys, answers, provider, close: () => server.close() && server.closeAllConnections() };
}

/** Starts a service and writes the model local/ID into the editor's home directory. */
export async function service(editor, answers, id = 'm') {
  const served = await serve(answers);
  const agent = join(editor.home, '.xcsh/agent');
  mkdirSync(agent, { recursive: true });
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { local: served.provider('none', id) } }));
  return served;
}
