-- The model's questions about code, which the editor's language servers answer.

local chats = require('chats')
local harness = require('harness')
local languages = require('languages')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local answered ---@type boolean

---The model makes calls, one after the other. Returns the service.
---@param calls { [1]: string, [2]: table }[]
local function turn(calls)
  local replies = {}
  for i, call in ipairs(calls) do
    replies[i] = {
      text = 'Looking.',
      calls = { { id = 'c' .. i, name = call[1], args = call[2] } },
    }
  end
  table.insert(replies, { text = 'Done.' })
  local service = harness.model(replies, { approval = 'auto-edit' })
  answered = false
  require('xcsh').execute('xcsh.prompt', { text = 'go' }, function(err)
    eq(nil, err)
    answered = true
  end)
  return service
end

---Waits for the end of the turn and returns the results of the calls.
local function results(service)
  wait('the end of the turn', function()
    return answered
  end)
  local found = {}
  for _, message in ipairs(service.requests[#service.requests].messages) do
    if message.role == 'tool' then
      local content = message.content
      if type(content) == 'table' then
        content = table.concat(
          vim.tbl_map(function(part)
            return part.text
          end, content),
          '\n'
        )
      end
      table.insert(found, content)
    end
  end
  return found
end

---A case with a language server for files of the type "words".
local function with_server(name, body)
  case(name, function()
    vim.filetype.add({ extension = { words = 'words' } })
    vim.cmd('filetype on')
    local texts = languages.start('words')
    local ok, err = xpcall(body, debug.traceback, texts)
    languages.stop()
    wait('the language server to end', function()
      return #vim.lsp.get_clients({ name = 'words' }) == 0
    end)
    if not ok then
      error(err, 0)
    end
  end)
end

with_server('language servers are asked about files, also about those that are not open', function()
  chats.file('a.words', { 'ä🙂 one two', 'two bad' })
  local service = turn({
    { 'lsp', { action = 'definition', file = 'a.words', line = 2, symbol = 'two' } },
    { 'lsp', { action = 'references', file = 'a.words', line = 1, symbol = 'two' } },
    { 'lsp', { action = 'hover', file = 'a.words', line = 1, symbol = 'one' } },
    { 'lsp', { action = 'symbols', file = 'a.words' } },
    { 'lsp', { action = 'symbols', query = 'bad' } },
    { 'lsp', { action = 'diagnostics', file = 'a.words' } },
    { 'lsp', { action = 'code_actions', file = 'a.words', line = 2 } },
    { 'lsp', { action = 'definition', file = 'missing.words', line = 1 } },
  })
  local all = results(service)
  eq('Found 1 definition:\n  a.words:1:8\n    ä🙂 one two', all[1])
  like('^Found 2 references:\n  a%.words:1:8\n.*\n  a%.words:2:1\n    two bad$', all[2])
  eq('the word **one**', all[3])
  like('^Symbols in a%.words:\n  variable .*, line 1$', all[4])
  eq('Found 1 symbol:\n  variable bad, a.words:2', all[5])
  eq('1 error:\na.words:2:5 [error] [words] bad word (B1)', all[6])
  local run = "Run it %(can't be applied here: it runs a command of the editor%)"
  like('2 code actions:\n  0: %[quickfix%] Repair\n  1: ' .. run .. '$', all[7])
  like('File not found', all[8])
end)

with_server(
  'an edit gets the new errors, and a file that is not open is changed on disk',
  function()
    local path = chats.file('a.words', { 'good', 'bad' })
    local change = { { oldText = 'good', newText = 'very bad' } }
    local service = turn({ { 'edit', { path = 'a.words', edits = change } } })
    local all = results(service)
    like('a%.words:1 bad word', all[1])
    like('problem', all[1])
    eq({ 'very bad', 'bad' }, vim.fn.readfile(path))
    eq(0, #vim.fn.getbufinfo({ bufmodified = 1 }))
    -- The server gets the buffer once the user opens it.
    local bufnr = vim.fn.bufnr(path)
    eq(0, #vim.lsp.get_clients({ bufnr = bufnr, name = 'xcsh' }))
    vim.cmd.edit(path)
    eq(bufnr, vim.api.nvim_get_current_buf())
    wait('the server to get the buffer', function()
      return #vim.lsp.get_clients({ bufnr = bufnr, name = 'xcsh' }) == 1
    end)
  end
)

with_server('an edit of an open buffer gets the errors that it did not have before', function(texts)
  local path = chats.file('a.words', { 'good', 'bad' })
  vim.cmd.edit(path)
  wait('the problems', function()
    return #vim.diagnostic.get(0) == 1
  end)
  local change = { { oldText = 'good', newText = 'good', all = true } }
  change[1].newText = 'good bad'
  local service = turn({ { 'edit', { path = 'a.words', edits = change } } })
  local all = results(service)
  like('1 new problem: a%.words:1 bad word', all[1])
  eq({ 'good bad', 'bad' }, vim.api.nvim_buf_get_lines(0, 0, -1, false))
  eq(1, vim.tbl_count(texts))
end)

with_server('a rename is applied by the server', function()
  local path = chats.file('a.words', { 'ä🙂 one', 'one two' })
  local service = turn({
    {
      'lsp',
      { action = 'rename', file = 'a.words', line = 2, symbol = 'one', new_name = 'three' },
    },
    {
      'lsp',
      { action = 'code_actions', file = 'a.words', line = 2, query = 'Repair', apply = true },
    },
  })
  local all = results(service)
  like('Done: Rename one to three in a%.words', all[1])
  like('Done: Apply "Repair" in a%.words', all[2])
  eq({ 'ä🙂 three', 'good' }, vim.fn.readfile(path))
end)

case('open files and the selection are known, and files without language servers', function()
  vim.cmd.edit(chats.file('a.txt', { 'alpha', 'beta' }))
  chats.file('b.txt', { 'gamma' })
  chats.press('wve<Esc>')
  local service = turn({
    { 'lsp', { action = 'editors' } },
    { 'lsp', { action = 'selection' } },
    { 'lsp', { action = 'definition', file = 'a.txt', line = 1 } },
  })
  local all = results(service)
  eq('Open files:\n  a.txt (active)', all[1])
  like('^Selected in a%.txt, line %d:\n', all[2])
  eq('No definition found.', all[3])
end)
