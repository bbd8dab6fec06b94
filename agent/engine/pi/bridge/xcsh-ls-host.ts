// The bridge between pi and xcsh-ls, an extension of pi: the editor answers for pi's file tools where a file is open
// there, and the user is asked before a tool changes something. It also runs in omp and xcsh, which have pi's
// interface of early 2026; there it leaves the file tools alone.
//
// All messages travel in dialogs of pi. A question is an "input" dialog with the mark as its title and JSON as its
// placeholder; the value that comes back is JSON too. A report is a status with the mark as its key. The mark is a secret of
// the host and this process. Nothing is asked in session_start: pi does not read its input yet and would exit.
import { constants, readFileSync, unlinkSync } from "node:fs";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const LARGEST = 8 << 20; // characters of a file that the host can check; larger ones would not fit into a line
const SELF = fileURLToPath(import.meta.url);

// The settings outlive this module, because a reload evaluates it again. They leave the environment at once, so that
// the commands of the model do not inherit the mark.
const SLOT = Symbol.for("xcsh-ls/host");
const shared = globalThis as any;
if (process.env.XCSH_LS_HOST !== undefined) {
	shared[SLOT] ??= JSON.parse(process.env.XCSH_LS_HOST);
	delete process.env.XCSH_LS_HOST;
} else if (shared[SLOT] === undefined) {
	// omp's commands would see the variable all the same, so its settings are in a file, which is removed at once.
	const file = `${dirname(SELF)}/xcsh-ls-host.json`;
	try {
		const settings = readFileSync(file, "utf8");
		unlinkSync(file);
		shared[SLOT] = JSON.parse(settings);
	} catch {
		// Without settings this does nothing, and the host notices that.
	}
}
// builtin: the tools of a program that does not say where a tool is from.
type Host = { mark: string; files: boolean; permit: boolean; builtin?: string[] };
const host: Host | undefined = shared[SLOT];

export default async function (pi: any): Promise<void> {
	if (!host?.mark) return;
	const mark = host.mark;
	const kit: any = host.files ? await import("@earendil-works/pi-coding-agent") : undefined;
	let ui: any; // of the current session
	const report = (to: any, message: object): void => to?.setStatus(mark, JSON.stringify(message));
	// ask returns the host's answer. No answer, an unreadable one and an error are exceptions.
	async function ask(question: object, signal?: AbortSignal): Promise<any> {
		const value = await ui.input(mark, JSON.stringify(question), { signal });
		if (value === undefined) throw new Error(signal?.aborted ? "Operation aborted" : "The editor did not answer.");
		const answer = JSON.parse(value);
		if (answer.error !== undefined) throw new Error(String(answer.error));
		return answer;
	}

	// The file operations of pi's tools. here: false means that the file is not open in the editor.
	const contents = async (path: string): Promise<Buffer> => {
		const answer = await ask({ op: "read", path });
		return answer.here ? Buffer.from(answer.text, "utf8") : readFile(path);
	};
	const changing = (toolCallId: string) => ({
		access: async (path: string): Promise<void> => {
			if (!(await ask({ op: "open", path })).here) await access(path, constants.R_OK | constants.W_OK);
		},
		readFile: contents,
		mkdir: async () => {}, // only when the write has been allowed
		writeFile: async (path: string, text: string) => {
			if (text.length > LARGEST) throw new Error("The file is too large to be changed through the editor.");
			if ((await ask({ op: "write", path, text, toolCallId })).here) return;
			await mkdir(dirname(path), { recursive: true });
			await writeFile(path, text, "utf8");
		},
	});

	// own reports whether a tool is pi's, or pi's with the operations above. Another extension may replace it at any time.
	const own = (tool: any): boolean => tool?.sourceInfo?.source === "builtin" || tool?.sourceInfo?.path === SELF;
	// xcsh lists only the names of its tools.
	const allTools = (): any[] =>
		pi.getAllTools().map((tool: any) => {
			if (typeof tool !== "string") return tool;
			return { name: tool, sourceInfo: { source: host.builtin?.includes(tool) ? "builtin" : "unknown" } };
		});
	const ownNow = (name: string): boolean => own(allTools().find((tool: any) => tool.name === name));

	// replace registers a tool of pi again with other operations. A tool that the user has switched off is not
	// listed, and one of another extension stays: both return false.
	function replace(name: string, tool: any, execute: (id: string, rest: any[]) => Promise<any>): boolean {
		if (!ownNow(name)) return false;
		const active: string[] = pi.getActiveTools();
		pi.registerTool({ ...tool, execute: (id: string, ...rest: any[]) => execute(id, rest) });
		if (pi.getActiveTools().some((n: string) => !active.includes(n))) pi.setActiveTools(active);
		return true;
	}

	function replaceTools(cwd: string): Record<string, boolean> {
		const options = { autoResizeImages: pi.getSettings?.()?.images?.autoResize ?? true };
		const read = kit.createReadToolDefinition(cwd, options);
		// A file that is not open goes to pi's own tool, which also shows images and reads long files in pieces.
		const readOpen = async (id: string, rest: any[]): Promise<any> => {
			let closed = false;
			const open = async (path: string) => {
				closed = !(await ask({ op: "open", path })).here;
				if (closed) throw new Error("not open");
			};
			const tool = kit.createReadToolDefinition(cwd, { ...options, operations: { access: open, readFile: contents } });
			return tool.execute(id, ...rest).catch((failure: unknown) => {
				if (!closed) throw failure;
				return read.execute(id, ...rest);
			});
		};
		const change = (create: any) => (id: string, rest: any[]) => create(cwd, { operations: changing(id) }).execute(id, ...rest);
		return {
			read: replace("read", read, readOpen),
			edit: replace("edit", kit.createEditToolDefinition(cwd), change(kit.createEditToolDefinition)),
			write: replace("write", kit.createWriteToolDefinition(cwd), change(kit.createWriteToolDefinition)),
		};
	}

	// session_start fires more than once for a new session, and after a reload. omp and xcsh have other events for a session that
	// follows another one.
	const greet = (event: any, ctx: any): void => {
		if (ctx.mode !== undefined && ctx.mode !== "rpc") return;
		ui = ctx.ui;
		const files = host.files ? replaceTools(ctx.cwd) : {};
		const tools = allTools().map((tool: any) => ({ name: tool.name, own: own(tool) }));
		const place = { cwd: ctx.cwd, file: ctx.sessionManager.getSessionFile() ?? null, leafId: ctx.sessionManager.getLeafId() };
		report(ui, { op: "hello", version: 1, pi: kit?.VERSION, reason: event.reason, permit: host.permit, ...place, files, tools });
	};
	for (const name of ["session_start", "session_switch", "session_branch"]) pi.on(name, greet);

	// The host knows which calls need no word of the user. An error is a refusal, never a permission.
	pi.on("tool_call", async (event: any, ctx: any) => {
		if (!host.permit) return;
		try {
			const mine = ownNow(event.toolName);
			const question = { op: "permit", toolCallId: event.toolCallId, tool: event.toolName, own: mine, args: event.input };
			const answer = await ask(question, ctx.signal);
			return answer.allow === true ? undefined : { block: true, reason: String(answer.reason ?? "The user denied this call.") };
		} catch (failure: any) {
			return { block: true, reason: String(failure?.message ?? failure) };
		}
	});

	// pi's own events do not say where the leaf is.
	for (const name of ["agent_start", "turn_end", "agent_end", "agent_settled", "session_tree", "session_compact"]) {
		pi.on(name, (_event: any, ctx: any) => report(ui, { op: "leaf", leafId: ctx.sessionManager.getLeafId() }));
	}

	// Commands have no result, so it is reported with the number of the request.
	function command(name: string, description: string, run: (args: any, ctx: any) => Promise<object>): void {
		const handler = async (text: string, ctx: any): Promise<void> => {
			const args = JSON.parse(text);
			const answer = await run(args, ctx).then((value) => ({ value }), (failure) => ({ error: String(failure?.message ?? failure) }));
			report(ctx.ui, { op: "answer", n: args.n, ...answer });
		};
		pi.registerCommand(`xcsh-ls-${name}`, { description, handler });
	}
	command("navigate", "Used by xcsh-ls to move within the session", async (args, ctx) => {
		const { message, type, content } = ctx.sessionManager.getEntry(args.to) ?? {};
		const { cancelled } = await ctx.navigateTree(args.to, args.options);
		const typed = type === "custom_message" ? content : message?.role === "user" ? message.content : "";
		const text = typeof typed === "string" ? typed : typed.map((block: any) => block.text ?? "").join("");
		const leafId = ctx.sessionManager.getLeafId();
		return { cancelled, leafId, text: leafId === args.to ? "" : text };
	});
	command("label", "Used by xcsh-ls to label an entry", async (args, ctx) => {
		pi.setLabel(args.entry, args.text || undefined);
		return { leafId: ctx.sessionManager.getLeafId() };
	});
	// The next hello is the answer; ctx is stale by then.
	pi.registerCommand("xcsh-ls-reload", { description: "Used by xcsh-ls to load extensions", handler: (_: string, ctx: any) => ctx.reload() });
}
