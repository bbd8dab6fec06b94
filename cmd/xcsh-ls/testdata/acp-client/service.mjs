// A service that speaks as much of Chat Completions as a turn needs, and no faster than it is told.
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** slowModel makes slow/model known to the world: it says one piece of an answer and the rest when go is called. */
export async function slowModel(world, t) {
  let go;
  const going = new Promise((done) => (go = done));
  let leave;
  const left = new Promise((done) => (leave = done));
  const server = createServer(async (request, response) => {
    request.resume();
    response.on("close", () => leave(!response.writableFinished));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta, finish_reason = null) => response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "model", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    send({ role: "assistant", content: "The beginning. " });
    await going;
    send({ content: "The end." });
    send({}, "stop");
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    go();
    server.close();
    server.closeAllConnections();
  });
  const directory = join(world.home, ".xcsh/agent");
  mkdirSync(directory, { recursive: true });
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  writeFileSync(join(directory, "models.json"), JSON.stringify({
    providers: { slow: { baseUrl, api: "openai-completions", apiKey: "key", models: [{ id: "model", name: "Slow" }] } },
  }));
  return { name: "slow/model", go, left };
}
