-- The only configuration of the tests: this plugin on the runtime path, as a plugin manager would
-- add it.
local tests = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(tests))
package.path = tests .. '/?.lua;' .. package.path
vim.o.swapfile = false
-- Messages of a command must not wait for a key.
vim.o.more = false
