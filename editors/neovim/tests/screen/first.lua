-- The Neovim of a new user: no settings, no model and no key.
local screen = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
dofile(vim.fs.dirname(screen) .. '/init.lua')

vim.env.HOME = vim.env.HOME .. '/first'
vim.fn.mkdir(vim.env.HOME, 'p')
vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'FI'
