-- The Neovim whose screen is compared: the plugin, and a model that says what is written
-- here and stops in the middle of a text until it is told to go on.
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
    thinking = 'The person names a file. I have to read it before I can say anything.',
    text = 'I look at the file first.',
    calls = { { id = 'c1', name = 'read', args = { path = 'a.txt' } } },
  },
  { text = text, held = true },
  {
    text = 'Then it has to be changed.',
    calls = {
      {
        id = 'c2',
        name = 'edit',
        args = { path = 'a.txt', edits = { { oldText = 'two', newText = 'zwei' } } },
      },
    },
  },
  { text = 'It is done.' },
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
})

---Lets the text go on; called from outside.
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
