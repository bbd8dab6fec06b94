-- Edits of documents that the server asks for: one message and one step of undo for each, and all
-- or nothing.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---@param line integer from 0
---@param last integer
---@param text string
local function edit(line, last, text)
  return {
    range = {
      start = { line = line, character = 0 },
      ['end'] = { line = last, character = 0 },
    },
    newText = text,
  }
end

---@param bufnr integer
---@param edits table[]
local function document(bufnr, edits)
  local version = vim.lsp.util.buf_versions[bufnr] or 0
  return {
    textDocument = { uri = vim.uri_from_bufnr(bufnr), version = version },
    edits = edits,
  }
end

---Opens two files that the server knows.
local function start()
  local server = scripted.start()
  local bufnrs = {}
  for _, name in ipairs({ 'a.txt', 'b.txt' }) do
    vim.cmd.edit(chats.file(name, { 'one', 'two', 'three', 'four', 'five' }))
    table.insert(bufnrs, vim.api.nvim_get_current_buf())
  end
  harness.execute('xcsh.state')
  server.sent = {}
  return server, bufnrs[1], bufnrs[2]
end

local function text_of(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), ' ')
end

---@param server Scripted
---@param bufnr integer
---@return table[] params of the changes of a document
local function changes_of(server, bufnr)
  local found = {}
  for _, sent in ipairs(server.sent) do
    local uri = vim.tbl_get(sent.params or {}, 'textDocument', 'uri')
    if sent.method == 'textDocument/didChange' and uri == vim.uri_from_bufnr(bufnr) then
      table.insert(found, sent.params)
    end
  end
  return found
end

---@param content string
---@param changes table[]
local function applied(content, changes)
  for _, change in ipairs(changes) do
    local lines = vim.split(content, '\n', { plain = true })
    local function offset(position)
      local at = position.character
      for i = 1, position.line do
        at = at + #lines[i] + 1
      end
      return at
    end
    local first, last = offset(change.range.start), offset(change.range['end'])
    content = content:sub(1, first) .. change.text .. content:sub(last + 1)
  end
  return content
end

case('the edits of a document are one message and one step of undo', function()
  local server, a, b = start()
  for _, bufnr in ipairs({ a, b }) do
    vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { 'One' })
    vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { 'one' })
  end
  harness.execute('xcsh.state')
  server.sent = {}
  -- Neovim sends the first change after a pause at once, and those behind it later.
  vim.wait(200)
  local answer = server:ask('workspace/applyEdit', {
    edit = {
      documentChanges = {
        document(a, { edit(0, 1, 'ONE\n'), edit(2, 3, ''), edit(4, 5, 'FIVE\nsix\n') }),
        document(b, { edit(1, 2, 'TWO\n'), edit(3, 4, 'FOUR\n') }),
      },
    },
  })
  eq({ applied = true }, answer)
  eq({ 'ONE two four FIVE six', 'one TWO three FOUR five' }, { text_of(a), text_of(b) })
  local before = 'one\ntwo\nthree\nfour\nfive\n'
  for bufnr, content in pairs({
    [a] = 'ONE\ntwo\nfour\nFIVE\nsix\n',
    [b] = 'one\nTWO\nthree\nFOUR\nfive\n',
  }) do
    local sent = changes_of(server, bufnr)
    eq(1, #sent)
    eq(content, applied(before, sent[1].contentChanges))
    eq(vim.lsp.util.buf_versions[bufnr], sent[1].textDocument.version)
    vim.api.nvim_set_current_buf(bufnr)
    vim.cmd('silent undo')
    eq('one two three four five', text_of(bufnr))
    vim.cmd('silent redo')
    eq(content, table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n') .. '\n')
  end
  wait('the changes of undo', function()
    return #changes_of(server, a) > 1
  end)
end)

case("the user's typing is a step of its own, and messages of it are not held back", function()
  local server, a = start()
  vim.api.nvim_set_current_buf(a)
  chats.press('Gomine<Esc>')
  harness.execute('xcsh.state')
  eq(1, #changes_of(server, a))
  server:ask('workspace/applyEdit', {
    edit = { documentChanges = { document(a, { edit(0, 1, ''), edit(2, 3, '') }) } },
  })
  eq('two four five mine', text_of(a))
  vim.cmd('silent undo')
  eq('one two three four five mine', text_of(a))
  vim.cmd('silent undo')
  eq('one two three four five', text_of(a))
end)

case('no document changes if one of them cannot', function()
  local server, a, b = start()
  local function ask(changes)
    return server:ask('workspace/applyEdit', { edit = { documentChanges = changes } })
  end
  vim.bo[b].modifiable = false
  local both = { document(a, { edit(0, 1, 'x\n') }), document(b, { edit(0, 1, 'x\n') }) }
  local answer = ask(both)
  eq(false, answer.applied)
  like('b%.txt cannot be modified', answer.failureReason)
  vim.bo[b].modifiable = true
  both[2].textDocument.version = -1
  eq({
    applied = false,
    failureReason = 'The document has changed since. Read it again.',
  }, ask(both))
  local missing = { kind = 'delete', uri = vim.uri_from_fname(vim.fn.getcwd() .. '/none') }
  answer = ask({ document(a, { edit(0, 1, 'x\n'), edit(3, 4, 'y\n') }), missing })
  eq(false, answer.applied)
  for _, bufnr in ipairs({ a, b }) do
    eq('one two three four five', text_of(bufnr))
  end
end)

case('the server opens a file without showing it', function()
  local server = start()
  local path = chats.file('c.txt', { 'c' })
  local window, bufnr = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local function ask(name)
    local uri = vim.uri_from_fname(name)
    return server:ask('window/showDocument', { uri = uri, takeFocus = false }).success
  end
  eq(true, ask(path))
  eq({ window, bufnr }, { vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf() })
  eq({ true, true }, { vim.bo[vim.fn.bufnr(path)].buflisted, vim.fn.bufloaded(path) == 1 })
  eq(
    true,
    vim.iter(server.sent):any(function(sent)
      return sent.method == 'textDocument/didOpen'
        and sent.params.textDocument.uri == vim.uri_from_fname(path)
    end)
  )
  eq(false, ask(path .. '.none'))
  eq(0, require('xcsh.waiting').count())
end)
