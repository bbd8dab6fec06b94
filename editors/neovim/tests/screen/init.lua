-- The Neovim of the screen test: the plugin, and a model that sends the text below and pauses in
-- the middle until it is released.
local screen = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
local tests = vim.fs.dirname(screen)
dofile(tests .. '/init.lua')

local text = [[
The file has **two** lines:

1. one
2. two

```lua
print('one')
print('two')
```

That is all.
]]

local service = require('service').start(vim.env.HOME, {
  {
    thinking = 'The user mentions a file. I have to read it first.',
    text = "I'll read the file first.",
    calls = { { id = 'c1', name = 'read', args = { path = 'a.txt' } } },
  },
  { text = text, held = true },
  {
    text = 'This changes the second line.',
    calls = {
      {
        id = 'c2',
        name = 'edit',
        args = { path = 'a.txt', edits = { { oldText = 'two', newText = 'zwei' } } },
      },
    },
  },
  { text = 'Done.' },
  {
    text = '',
    calls = {
      {
        id = 'c3',
        name = 'edit',
        args = { path = 'a.txt', edits = { { oldText = 'one', newText = 'eins' } } },
      },
    },
  },
  { text = 'Changed.' },
  {
    text = '',
    calls = {
      {
        id = 'c4',
        name = 'bash',
        args = { command = 'make ' .. ('all '):rep(40) .. '\n./deploy --to production' },
      },
    },
  },
  { text = "I won't run it." },
})

---Resumes the text; called from outside.
function _G.release()
  if service.holding then
    service:release()
    return 1
  end
  return 0
end

---Kills the server; called from outside.
function _G.kill()
  require('xcsh.client').min_life = 0
  vim.lsp.get_clients({ name = 'xcsh' })[1].rpc.terminate()
  return 1
end

vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
require('xcsh').setup({ init_options = { model = 'local/m' } })
vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'FI'
vim.o.termguicolors = vim.env.COLORTERM == 'truecolor'
