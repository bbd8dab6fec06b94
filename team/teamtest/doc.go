// Package teamtest helps to test stores and their users: a [Store] in memory, a suite of stories that
// every store passes ([Contract]), and a [Proxy] that breaks connections.
package teamtest
