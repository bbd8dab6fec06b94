-- A person working with a model: turns, and what belongs to them. The model is the offline
-- demo, which makes one tool call for each prompt.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local function buffer_text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

---@param name string
local function wait_for_buffer(name)
  wait('the buffer ' .. name, function()
    return vim.api.nvim_buf_get_name(0) == name
  end)
end

---Sessions ask the offline demo.
---@param options? table<string, any>
local function demo(options)
  options = vim.tbl_extend('keep', options or {}, { model = 'offline/demo' })
  require('xcsh').setup({ init_options = options })
end

---@param name string
---@param lines string[]
---@return string path
local function file(name, lines)
  local path = harness.folder('work') .. '/' .. name
  vim.fn.writefile(lines, path)
  return path
end

case(':XcshPrompt shows the answer', function()
  demo()
  file('a.txt', { 'one', 'two' })
  vim.cmd('XcshPrompt what is in a.txt?')
  wait_for_buffer('xcsh://answer')
  like('The tool read answered with 2 lines%.', buffer_text())
  eq({ 'nofile', false, 'markdown' }, { vim.bo.buftype, vim.bo.modifiable, vim.bo.filetype })
  eq(4, harness.execute('xcsh.state').messageCount)
end)

case(':XcshPrompt without a text asks for one', function()
  demo()
  harness.type('what is here?')
  vim.cmd('XcshPrompt')
  wait_for_buffer('xcsh://answer')
  like('The tool ls answered', buffer_text())
  harness.close_question()
  vim.cmd('XcshPrompt')
  harness.message('^Nothing entered$')
end)

case(':XcshPrompt without a model says how to choose one', function()
  vim.cmd('XcshPrompt hello')
  local note = harness.message('^No model is chosen')
  eq(vim.log.levels.ERROR, note.level)
  like('offline/demo', note.message)
end)

case('the model reads the text on the screen', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'saved' }))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'two', 'three' })
  vim.cmd('XcshPrompt look at a.txt')
  wait_for_buffer('xcsh://answer')
  like('answered with 3 lines', buffer_text())
end)

case('an edit is asked about, made in the buffer and can be undone', function()
  demo()
  local path = file('a.txt', { 'one', 'two', 'three' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  harness.answer('Allow')
  vim.cmd('XcshPrompt edit a.txt: two => zwei')
  wait_for_buffer('xcsh://answer')
  like('The tool edit answered', buffer_text())
  like('xcsh wants to: Edit a.txt', harness.asked[1].prompt)
  eq({ 'one', 'zwei', 'three' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  eq({ 'one', 'two', 'three' }, vim.fn.readfile(path))
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent undo')
  end)
  eq({ 'one', 'two', 'three' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('an edit that is not allowed is not made', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  harness.answer('Deny')
  vim.cmd('XcshPrompt edit a.txt: one => two')
  wait_for_buffer('xcsh://answer')
  like('The person did not allow this edit call', buffer_text())
  eq({ 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('an edit of a text that has changed since is refused, not lost', function()
  demo({ approval = 'auto-edit' })
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  -- The last moment in which the person can type before the server asks for the edit.
  vim.api.nvim_create_autocmd('User', {
    pattern = 'XcshEvent',
    callback = function(event)
      if event.data.event.type == 'tool_execution_start' then
        vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { 'typed' })
      end
    end,
  })
  vim.cmd('XcshPrompt edit a.txt: one => two')
  wait_for_buffer('xcsh://answer')
  like('The tool edit failed', buffer_text())
  eq({ 'typed' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('what goes on can be seen, and no more when it is over', function()
  demo()
  file('a.txt', { 'one' })
  local seen = {}
  vim.api.nvim_create_autocmd('User', {
    pattern = 'XcshEvent',
    callback = function()
      local status = require('xcsh').status()
      if status ~= seen[#seen] then
        table.insert(seen, status)
      end
    end,
  })
  eq('', require('xcsh').status())
  harness.answer('Allow')
  vim.cmd('XcshPrompt edit a.txt: one => two')
  wait_for_buffer('xcsh://answer')
  local all = table.concat(seen, '\n')
  like('xcsh: thinking…\nxcsh: edit…\nxcsh: waiting for your answer…\n', all)
  eq('', seen[#seen])
  eq('', require('xcsh').status())
  eq('', require('xcsh').status('/elsewhere'))
end)

case(':XcshSetModel offers the models, those that can be used first', function()
  harness.answer('offline/demo')
  vim.cmd('XcshSetModel')
  harness.message('^The session asks offline/demo, thinking: off%.$')
  like('^offline/demo · Offline demo', harness.asked[1].lines[1])
  eq(nil, harness.asked[1].lines[1]:find('no key', 1, true))
  like('no key$', harness.asked[1].lines[2])
  harness.close_question()
  vim.cmd('XcshSetModel')
  harness.message('^No model selected$')
  vim.cmd('XcshSetModel nobody/nothing')
  harness.message('^There is no model nobody/nothing%.$')
end)

case(':Xcsh models lists them', function()
  vim.cmd('Xcsh models')
  wait_for_buffer('xcsh://models')
  like('^offline/demo · ', buffer_text())
end)

case(':XcshSetThinking and :XcshSetApproval offer what there is', function()
  demo()
  harness.answer('high')
  vim.cmd('XcshSetThinking')
  harness.message('^The session asks offline/demo, thinking: off%.$')
  eq('off', harness.asked[1].lines[1])
  harness.answer('auto-edit')
  vim.cmd('XcshSetApproval')
  harness.message('^The approval mode is auto%-edit%.$')
  eq({ 'read-only', 'ask', 'auto-edit', 'yolo' }, harness.asked[2].lines)
  vim.cmd('XcshSetApproval careful')
  harness.message('"careful" is not an approval mode')
end)

case(':XcshBash runs a command and shows what came of it', function()
  demo()
  vim.cmd('XcshBash echo out; exit 3')
  wait_for_buffer('xcsh://bash')
  eq('$ echo out; exit 3\nout\n[exit code 3]', buffer_text())
  eq(1, harness.execute('xcsh.state').messageCount)
end)

case('what is said when nothing runs is refused, and stopping does nothing', function()
  demo()
  for _, command in ipairs({ 'XcshSteer left', 'XcshFollowUp then' }) do
    harness.notified = {}
    vim.cmd(command)
    harness.message('^Nothing runs in .*; send a prompt instead%.$')
  end
  vim.cmd('XcshAbort')
  harness.message('^Nothing runs%.$')
  vim.cmd('XcshCompact')
  wait('a sentence', function()
    return #harness.notified >= 3
  end)
end)

case('a turn is stopped, and what waited can be sent again', function()
  demo()
  file('a.txt', { 'one' })
  -- The person does not answer, so that the turn goes on.
  local asked = false
  vim.ui.select = function()
    asked = true
  end
  vim.cmd('XcshPrompt edit a.txt: one => two')
  wait('the question', function()
    return asked
  end)
  wait('the event about it', function()
    return require('xcsh').status():find('waiting for your answer')
  end)
  vim.cmd('XcshFollowUp and then?')
  harness.message('^1 messages wait')
  vim.cmd('XcshAbort')
  harness.message('^Stopped%.$')
  harness.message('^The turn was stopped%.$')
  wait_for_buffer('xcsh://prompt')
  eq('and then?', buffer_text())
  eq('', require('xcsh').status())
end)

case(':XcshStats counts', function()
  demo()
  vim.cmd('XcshPrompt what is here?')
  wait_for_buffer('xcsh://answer')
  vim.cmd('XcshStats')
  wait_for_buffer('xcsh://stats')
  like('toolCalls', buffer_text())
end)
