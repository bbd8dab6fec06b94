-- A user working with a model: turns, and related features. The model is the offline demo, which
-- makes one tool call for each prompt.

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

---Waits for the buffer of a turn, which must not take the focus, and goes there.
---@param name string
local function go_to(name)
  local window = wait('a window with ' .. name, function()
    local found = vim.fn.bufwinid(name)
    return found ~= -1 and found
  end)
  eq(false, window == vim.api.nvim_get_current_win())
  vim.api.nvim_set_current_win(window)
end

---Starts sessions with the offline demo.
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
  go_to('xcsh://answer')
  like('The tool read returned 2 lines%.', buffer_text())
  eq({ 'nofile', false, 'markdown' }, { vim.bo.buftype, vim.bo.modifiable, vim.bo.filetype })
  eq(4, harness.execute('xcsh.state').messageCount)
end)

case(':XcshPrompt without an argument asks for a prompt', function()
  demo()
  harness.type('what is here?')
  vim.cmd('XcshPrompt')
  go_to('xcsh://answer')
  like('The tool ls returned', buffer_text())
  harness.close_question()
  vim.cmd('XcshPrompt')
  harness.message('^Nothing entered%.$')
end)

case(':XcshPrompt without a model offers the ways to get one, and keeps the text', function()
  harness.close_question()
  vim.cmd('XcshPrompt hello')
  wait('the text', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://prompt'
  end)
  eq('hello', buffer_text())
  eq('Choose a model to start.', harness.asked[1].prompt)
end)

case('the model reads unsaved text', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'saved' }))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'two', 'three' })
  vim.cmd('XcshPrompt look at a.txt')
  go_to('xcsh://answer')
  like('returned 3 lines', buffer_text())
end)

case('an approved edit is made in the buffer and can be undone', function()
  demo()
  local path = file('a.txt', { 'one', 'two', 'three' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.cmd('XcshPrompt edit a.txt: two => zwei')
  local shown = harness.permit('a')
  like(
    '^Allow xcsh to edit a.txt%?\n\n“Allow for session” and “always allow” apply to: ',
    shown
  )
  like('\n%-two\n%+zwei', shown)
  go_to('xcsh://answer')
  like('The tool edit returned', buffer_text())
  eq({ 'one', 'zwei', 'three' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  eq({ 'one', 'two', 'three' }, vim.fn.readfile(path))
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent undo')
  end)
  eq({ 'one', 'two', 'three' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('a denied edit is not made', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  vim.cmd('XcshPrompt edit a.txt: one => two')
  harness.permit('d')
  go_to('xcsh://answer')
  like('The user denied this edit call', buffer_text())
  eq({ 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('an edit of text that has changed since fails, and the text is kept', function()
  demo({ approval = 'auto-edit' })
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  -- The last moment at which the user can type before the server requests the edit.
  vim.api.nvim_create_autocmd('User', {
    pattern = 'XcshEvent',
    callback = function(event)
      if event.data.event.type == 'tool_execution_start' then
        vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { 'typed' })
      end
    end,
  })
  vim.cmd('XcshPrompt edit a.txt: one => two')
  go_to('xcsh://answer')
  like('The tool edit failed', buffer_text())
  eq({ 'typed' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

for name, opens in pairs({ ['in a window'] = false, ['in the chat'] = true }) do
  case('an answer ' .. name .. ' does not overtake what was typed before it', function()
    demo()
    vim.cmd.edit(file('a.txt', { 'one' }))
    local bufnr = vim.api.nvim_get_current_buf()
    vim.cmd('XcshPrompt edit a.txt: one => two')
    if not opens then
      harness.open_waiting('XcshApprovals')
    end
    wait('the approval', function()
      return #require('xcsh.approvals').waiting() == 1
    end)
    -- In one step: Neovim has no time to send the change by itself.
    vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { 'typed' })
    if opens then
      local prompt = require('xcsh.approvals').waiting()[1]
      require('xcsh.approvals').decide(prompt.cwd, prompt, 'once')
    else
      vim.api.nvim_feedkeys('a', 'xt', false)
    end
    go_to('xcsh://answer')
    like('The file changed while this edit call was waiting for approval', buffer_text())
    eq({ 'typed', 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  end)
end

case('status() shows the activity until it ends', function()
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
  vim.cmd('XcshPrompt edit a.txt: one => two')
  harness.permit('a')
  go_to('xcsh://answer')
  local all = table.concat(seen, '\n')
  like('xcsh: thinking…\nxcsh: edit…\nxcsh: waiting for approval…\n', all)
  eq('', seen[#seen])
  eq('', require('xcsh').status())
  eq('', require('xcsh').status('/elsewhere'))
end)

case(':XcshSetModel lists the models, those ready to use first', function()
  harness.answer('offline/demo')
  vim.cmd('XcshSetModel')
  harness.message('^Model: offline/demo%. Thinking level: off%.$')
  like('^offline/demo · Offline demo', harness.asked[1].lines[1])
  eq(nil, harness.asked[1].lines[1]:find('API key needed', 1, true))
  like('^All models', harness.asked[1].lines[2])
  harness.close_question()
  vim.cmd('XcshSetModel')
  harness.message('^No model selected%.$')
  vim.cmd('XcshSetModel local/missing')
  harness.message('^There is no model local/missing%.$')
end)

case(':Xcsh models lists the models', function()
  vim.cmd('Xcsh models')
  wait_for_buffer('xcsh://models')
  like('^offline/demo · ', buffer_text())
end)

case(':XcshSetThinking and :XcshSetApproval list the choices', function()
  demo()
  harness.answer('high')
  vim.cmd('XcshSetThinking')
  harness.message('^Model: offline/demo%. Thinking level: off%.$')
  eq('off', harness.asked[1].lines[1])
  harness.answer('auto-edit')
  vim.cmd('XcshSetApproval')
  harness.message('^Approval mode: auto%-edit%.$')
  eq({
    'read-only · Read files only',
    'ask · Ask first: before every edit and command',
    'auto-edit · Edit files in this folder; ask before commands',
    'yolo · Full access: never ask',
  }, harness.asked[2].lines)
  vim.cmd('XcshSetApproval careful')
  harness.message('"careful" is not an approval mode')
end)

case(':XcshBash runs a command and shows its output', function()
  demo()
  vim.cmd('XcshBash echo out; exit 3')
  go_to('xcsh://bash')
  eq('$ echo out; exit 3\nout\n[exit code 3]', buffer_text())
  eq(1, harness.execute('xcsh.state').messageCount)
end)

case('without a running turn, :XcshSteer fails and :XcshAbort does nothing', function()
  demo()
  for _, command in ipairs({ 'XcshSteer left', 'XcshFollowUp then' }) do
    harness.notified = {}
    vim.cmd(command)
    harness.message('^No turn is running in .*%. Send a prompt instead%.$')
  end
  vim.cmd('XcshAbort')
  harness.message('^Nothing is running%.$')
  vim.cmd('XcshCompact')
  wait('a sentence', function()
    return #harness.notified >= 3
  end)
end)

case('a turn is stopped, and queued messages can be sent again', function()
  demo()
  file('a.txt', { 'one' })
  -- The user does not answer, so the turn keeps running.
  vim.cmd('XcshPrompt edit a.txt: one => two')
  harness.message('Pending %(:XcshApprovals%): Allow xcsh to edit a%.txt%?')
  wait('the event about it', function()
    return require('xcsh').status():find('waiting for approval')
  end)
  vim.cmd('XcshFollowUp and then?')
  harness.message('^Queued messages: 1%.$')
  vim.cmd('XcshAbort')
  harness.message('^Stopped%.$')
  harness.message('^The turn was stopped%.$')
  wait_for_buffer('xcsh://prompt')
  eq('and then?', buffer_text())
  eq('', require('xcsh').status())
end)

case('after a rejected entry, the user can choose how to continue', function()
  local rejection = { rejects = 'not acceptable' }
  harness.model({ { text = 'Fine.' }, rejection, rejection })
  vim.cmd('XcshPrompt hello')
  go_to('xcsh://answer')
  vim.cmd('XcshPrompt poison')
  harness.message('Pending %(:XcshApprovals%): .*not acceptable.* To continue, go back before')
  harness.answer('Choose Another Model')
  harness.answer('offline/demo')
  vim.cmd('XcshApprovals')
  harness.message('offline/demo')
  eq('Go Back Before the Last Prompt', harness.asked[#harness.asked - 1].lines[1])

  -- The choices of one turn end with the next one.
  vim.cmd('XcshSetModel local/m')
  harness.message('local/m')
  harness.notified = {}
  vim.cmd('XcshPrompt poison again')
  harness.message('Pending %(:XcshApprovals%): .*not acceptable')
  eq(1, require('xcsh.waiting').count())
  harness.answer('Go Back Before the Last Prompt')
  vim.cmd('XcshApprovals')
  wait_for_buffer('xcsh://prompt')
  eq('poison again', buffer_text())
  eq(0, require('xcsh.waiting').count())
end)

case(':XcshStats shows the counts', function()
  demo()
  vim.cmd('XcshPrompt what is here?')
  go_to('xcsh://answer')
  vim.cmd('XcshStats')
  wait_for_buffer('xcsh://stats')
  like('Tokens\n  Input', buffer_text())
  like('Tool calls\n  ls  +1\n', buffer_text())
end)
