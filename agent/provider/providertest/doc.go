// Package providertest has what tests need in place of a model.
//
// [Server] is a service on loopback that speaks the three wire formats over HTTP. It plays
// a [Reply] per request, in order, refuses conversations that the real services refuse,
// and plays every [Fault] they are known for. [Scripted] plays the same replies without a
// network, for tests of what stands above a provider. [Run] is what every client of a
// service has to pass, [Collect] what every provider has to.
//
// Nothing here waits for time to pass: a reply that is to come late waits for a channel.
package providertest
