// A local model service with scripted answers and timing.
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Starts a service. answers: {text?, calls?: [{id, name, args}], held?: Promise} in the order of the
 * requests; with held, the end of the text is sent when the promise is settled. keys: the API keys of
 * the requests. provider(key, id): the service as a provider in a models.json.
 */
export async function serve(answers) {
  const requests = [];
  const keys = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) {
      body += part;
    }
    if (!request.url.includes('chat/completions')) {
      response.writeHead(404).end();
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
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const provider = (apiKey, id = 'm') => ({
    baseUrl,
    api: 'openai-completions',
    apiKey,
    models: [{ id, name: id, contextWindow: 32_000, maxTokens: 4000, input: ['text'] }],
  });
  return { requests, keys, answers, provider, close: () => server.closeAllConnections() ?? server.close() };
}

/** Starts a service and writes the model local/ID into the editor's home directory. */
export async function service(editor, answers, id = 'm') {
  const served = await serve(answers);
  const agent = join(editor.home, '.xcsh/agent');
  mkdirSync(agent, { recursive: true });
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { local: served.provider('none', id) } }));
  return served;
}
