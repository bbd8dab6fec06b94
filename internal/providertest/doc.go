// Package providertest has the helpers that tests need in place of a model.
//
// [Server] is a service on loopback that speaks every wire format over HTTP. It plays a
// [Reply] per request, in order, refuses conversations that the real services refuse, and plays
// every [Fault] they are known for. [Scripted] plays the same replies without a network, for tests
// of the layers above a provider. [Run] is the test suite that every client of a service has to
// pass, [Collect] the one for every provider.
//
// Nothing here waits for time to pass: a delayed reply waits for a channel.
package providertest
