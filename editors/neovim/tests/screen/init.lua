-- The Neovim of the screen test: the plugin, and a model that sends the text below and pauses in
-- the middle until it is released.
local screen = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
local tests = vim.fs.dirname(screen)
dofile(tests .. '/init.lua')

-- Synced waits until the server has the user's changes of a.txt. A request sends those that wait
-- for Neovim's delay, 150 ms, in which the answer to a review can overtake them.
function _G.Synced()
  local params = { command = 'xcsh.state', arguments = {} }
  for _, client in ipairs(vim.lsp.get_clients({ name = 'xcsh' })) do
    local args = { 'workspace/executeCommand', params, 10000, vim.fn.bufnr('a.txt') }
    if vim.fn.has('nvim-0.11') == 1 then
      table.insert(args, 1, client)
    end
    assert(client.request_sync(unpack(args)))
  end
  return 'synced'
end

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

vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
require('xcsh').setup({ init_options = { model = 'local/m' } })
vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'FI'
vim.o.termguicolors = vim.env.COLORTERM == 'truecolor'
