// Package conn is the connection to one client: framed JSON-RPC messages over a pair of streams.
//
// [New] starts a goroutine that reads and one that writes. A message that the JSON-RPC library
// cannot decode never reaches it, because it would close the connection: such a message is answered
// with an error or logged. Neither goroutine waits for a client that does not read; messages are held in
// bounded queues instead, and those that stop something overtake the others.
//
// [Conn.Notify] queues notifications, [Conn.Call] sends a request after the queued notifications
// have been written. [Calls] holds the requests that are being handled.
package conn
