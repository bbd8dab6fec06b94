// Package enginetest is a double of an engine's program: it behaves like pi 1.5.2, omp 18.2.3 or xcsh 18.38 in RPC mode, without a
// model, a login or a network, and it fails in every way on request. A player replays recorded conversations of other programs.
//
// # Use
//
// A Go test makes its own test program the double:
//
//	func TestMain(m *testing.M) { enginetest.Main(); os.Exit(m.Run()) }
//
//	p := enginetest.Pi(t, "slow-start:300")          // p.Path, p.Args, p.Env
//	c, err := child.Start(ctx, child.Config{Path: p.Path, Args: append(p.Args, "--mode", "rpc", …), Env: append(os.Environ(), p.Env...)})
//
// [Fork] is the same for omp and xcsh.
//
// A test of an editor builds it under the name by which it is found, or calls [Build]:
//
//	go build -o DIR/pi ./agent/engine/enginetest/double
//
// # The model
//
// The newest prompt with a directive determines the answers to it and to later prompts, in this order:
//
//	[[think]]               a thinking block before the text
//	[[tool:NAME {json}]]    a call of a tool: read, write, edit, bash; one request after the other, with [[par]] all in one
//	[[ask:METHOD {json}]]   a dialog, asked with the run's signal: select, confirm, input, editor; the answer is the text
//	[[say:TEXT]]            the text after the calls; without it "Echo: " and the beginning of the last message
//	[[big:BYTES]]           a text of this length
//	[[pieces:N]]            a text of this many words, each with a number and a piece of its own
//	[[slow:MS]]             a pause before each word
//	[[fail:STATUS:TIMES]]   an error of the model's service; 400 is not retried
//	[[hang]]                no answer until the run is aborted
//	[[fault:NAME:ARG]]      a fault of the second list below, when the answer begins; in a command with crash-in-tool
//
// The user has these commands: /fix (a template), /sel /con /inp /edi (dialogs), /selt (a select with a timeout of
// 300 ms), /misc (everything without an answer), /boom (fails), /switch PATH (goes to another session), and, with a bridge,
// /xcsh-ls-navigate, /xcsh-ls-label and /xcsh-ls-reload.
//
// # The bridge
//
// A file given with -e is loaded if it exists. If the environment has XCSH_LS_HOST, the double is the bridge of that
// file: it sends hello and leaf, and asks for permit, open, read and write.
//
// # Workspaces
//
// As pi's, the sessionDir of .pi/settings.json in the folder counts unless --session-dir is given. With --approve, the
// extensions in .pi/extensions are loaded: all that one does is to write the file of its first writeFileSync.
//
// # Faults
//
// Those of the start are in the variable ENGINE_DOUBLE_FAULTS, separated by semicolons. [Pi] sets it.
//
//	exit:CODE            ends at once, with the text of stderr:TEXT
//	stderr:TEXT          writes the text, "\n" for a line feed, to the standard error
//	dialog-at-start      asks "At start?" and ends with code 0
//	slow-start:MS        answers later
//	silent               reads and answers nothing
//	not-reading          reads nothing
//	stop-at-start        stops itself with SIGSTOP
//	ignore-input-end     lives on at the end of the input
//	ignore-term          ignores SIGTERM
//	no-login             has no models
//	no-bridge            loads the bridge, which stays silent; silent-reload: after a reload only
//	extension-fails      an extension of the user cannot be loaded, unless -ne is given; bridge-fails: the bridge cannot
//	eat:COMMAND          the first answer to the command is lost; half:COMMAND: it is behind half a line
//	twice:COMMAND        each answer to the command is followed by a refusal with the same id
//	unpermitted          tools run without a permit
//	deaf                 abort is never answered, and does nothing
//	version:TEXT         of --version and hello
//
// Those of omp and xcsh only:
//
//	no-ready             the first line is missing
//	refuse-later:TEXT    each prompt is acknowledged and then refused
//	late-file            a session without entries is written with its first answer; otherwise from the first entry on
//
// Those of a prompt:
//
//	garbage:N            N lines that are not JSON
//	half-line            the beginning of a line without its end, before the next one
//	line:MIB             an event of this many MiB; endless: a line without an end
//	unknown              an unknown event, and a dialog with an unknown method
//	exit:CODE  crash     ends; with SIGKILL. crash-in-tool: as soon as a command runs, in a session of its own
//	stop                 stops itself with SIGSTOP
//	stderr:TEXT          as above
//	flood:MIB            this much standard error
//	not-reading          reads nothing more
//	no-settled           the run ends without agent_settled
//	keeps-queue          of omp and xcsh: queued messages wait for the next prompt
//
// # Recordings
//
// [Player] replays a file of testdata: each line that was sent to the program is awaited, by its method or type, and
// what the program then sent is sent. See play.go.
package enginetest
