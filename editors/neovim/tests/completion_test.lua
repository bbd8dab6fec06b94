-- Completion of arguments on the command line.

local harness = require('harness')
local runner = require('runner')
local case, eq = runner.case, runner.eq

local function complete(line)
  return vim.fn.getcompletion(line, 'cmdline')
end

---Gives a session a title, like xcsh does.
---@param path string
---@param title string
local function entitle(path, title)
  local lines = vim.fn.readfile(path)
  local header = vim.json.decode(lines[1])
  header.title = title
  lines[1] = vim.json.encode(header)
  vim.fn.writefile(lines, path)
end

case('sessions are completed by title, also after a space, and else by ID', function()
  local here = vim.fn.getcwd()
  entitle(harness.session(here, '15d56a686bbe6801', 'a?', 'b'), 'Fix the parser')
  entitle(harness.session(here, '15d56a686bbe6802', 'c?', 'd'), 'sky \226\128\174live')
  harness.session(here, '15d56a686bbe6803', 'e?', 'f')
  local all = complete('XcshResume ')
  table.sort(all)
  eq({ '15d56a686bbe6802', '15d56a686bbe6803', 'Fix the parser' }, all)
  eq({ 'Fix the parser' }, complete('XcshResume fi'))
  -- Neovim replaces only the last word.
  eq({ 'parser' }, complete('XcshFork Fix the pa'))
  eq({ '15d56a686bbe6803' }, complete('XcshDump 15d56a686bbe6803'))
  eq({ 'target=15d56a686bbe6802' }, complete('Xcsh resume target=15d56a686bbe6802'))
  eq({}, complete('XcshRename '))
end)

case('models are completed, those that are ready to use first', function()
  harness.model({})
  local all = complete('XcshModel ')
  eq({ 'local/m', 'offline/demo' }, vim.list_slice(all, 1, 2))
  eq({ 'local/m' }, complete('XcshSetModel loc'))
  eq(true, #complete('XcshModel anthropic/') > 1)
end)

case('levels, modes and scopes are those that the server accepts', function()
  local words = require('xcsh.completion').words
  harness.model({})
  for command, argument in pairs({
    ['xcsh.setThinking'] = 'level',
    ['xcsh.setApproval'] = 'mode',
    ['xcsh.setMode'] = 'mode',
  }) do
    local values = words[command .. ' ' .. argument]
    for _, value in ipairs(values) do
      harness.execute(command, { [argument] = value })
    end
    eq(values, complete(('Xcsh%s '):format(command:sub(6):gsub('^%l', string.upper))))
  end
  for _, scope in ipairs({ 'scope=folder', 'scope=all' }) do
    harness.execute('xcsh.list', { scope = scope:match('=(.*)$') })
  end
  eq({ 'scope=folder', 'scope=all', 'scope=team' }, complete('Xcsh list scope='))
  eq({ 'scope=folder', 'scope=all' }, complete('Xcsh trash scope='))
  eq({ 'auto-edit' }, complete('XcshSetApproval au'))
end)

case('entries, and the approvals and questions that are pending, are completed', function()
  local path = harness.session(vim.fn.getcwd(), '15d56a686bbe6801', 'a?', 'b')
  eq(true, harness.execute('xcsh.resume', { target = path }).switched)
  eq({ 'aaaaaaaa', 'bbbbbbbb' }, complete('XcshBranch '))
  eq({ 'entryId=bbbbbbbb' }, complete('Xcsh label entryId=bb'))
  eq({ 'source=', 'entryId=' }, complete('Xcsh fork '))
  eq({ 'entryId=' }, complete('Xcsh fork source=15d56a686bbe6801 '))
  eq({}, complete('Xcsh approve id='))
  eq({ 'id=', 'decision=', 'reason=' }, complete('Xcsh approve '))
  eq({ 'decision=' }, complete('Xcsh approve id=x d'))
  eq({ 'decision=session', 'decision=session-wider' }, complete('Xcsh approve id=x decision=s'))
  local server = require('scripted').start()
  require('xcsh').stop()
  server.answers['xcsh.snapshot'] = {
    approvals = { { id = 'call_1' }, { id = 'call\n2' } },
    questions = { { id = 'q1', options = { 'Yes', 'No\27' } } },
  }
  runner.wait('the scripted server', function()
    return #complete('Xcsh approve id=') > 0
  end)
  eq({ 'id=call_1' }, complete('Xcsh approve id='))
  eq({ 'id=q1' }, complete('Xcsh answer id='))
  eq({ 'value=Yes' }, complete('Xcsh answer id=q1 value='))
end)

case('engines and directories are completed', function()
  eq({ 'own' }, complete('XcshSetEngine o'))
  vim.fn.mkdir(harness.folder('work') .. '/elsewhere/below', 'p')
  vim.fn.writefile({}, harness.folder('work') .. '/elsewhere/file')
  eq({ 'elsewhere/' }, complete('XcshMove else'))
  eq({ 'elsewhere/below/' }, complete('XcshImport elsewhere/'))
end)

case('without a server, nothing is completed, and nothing waits', function()
  vim.g.xcsh_ls_cmd = '/nowhere/xcsh-ls'
  local began = vim.uv.hrtime()
  eq({}, complete('XcshResume '))
  eq(true, (vim.uv.hrtime() - began) / 1e6 < 1000)
end)
