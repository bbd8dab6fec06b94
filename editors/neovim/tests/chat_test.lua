-- Rendering of the conversation in a chat buffer.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local demo, file, open, text_of = chats.demo, chats.file, chats.open, chats.text_of
local wait_for, settled, press, window_of =
  chats.wait_for, chats.settled, chats.press, chats.window_of
local send, at, closed, user_messages = chats.send, chats.at, chats.closed, chats.user_messages
local prompt_text = chats.prompt_text

case('a prompt, the tool call, and the answer are shown', function()
  demo()
  file('a.txt', { 'one', 'two' })
  local chat = open()
  like('No messages yet', text_of(chat))
  send(chat, 'what is in a.txt?')
  wait_for(chat, 'returned 2 lines')
  settled(chat)
  like('## You\n\nwhat is in a%.txt%?\n\n## demo\n\nThis is the offline demo', text_of(chat))
  like('\n✓ read a%.txt\n```\none\ntwo\n```\n', text_of(chat))
  eq('', prompt_text(chat))
  eq({ 'nofile', false, false, 'xcsh' }, {
    vim.bo[chat.bufnr].buftype,
    vim.bo[chat.bufnr].modifiable,
    vim.bo[chat.bufnr].modeline,
    vim.bo[chat.bufnr].filetype,
  })
  eq(4, closed(chat, '✓ read a.txt'))
end)

case('a streaming answer is visible', function()
  local model = harness.model({ { thinking = 'Let me see.', text = 'one two three', held = true } })
  local chat = open()
  send(chat, 'count')
  wait_for(chat, '\none\n')
  like('∴ Thinking\nLet me see%.\n\none\n\n… Working\n$', text_of(chat))
  eq(true, model.holding)
  like('xcsh: thinking', require('xcsh').statusline())
  model:release()
  wait_for(chat, 'one two three')
  settled(chat)
  eq(1, closed(chat, '∴ Thought process'))
  eq('xcsh: m', require('xcsh').statusline())
end)

case('a retry is one line that disappears with the answer', function()
  local answers = {
    { overloaded = 'busy' },
    { overloaded = 'still busy' },
    { text = 'At last.', held = true },
  }
  local model = harness.model(answers, { retries = 3, retryLimit = 1 })
  local chat, shown = open(), {}
  vim.api.nvim_buf_attach(chat.bufnr, false, {
    on_lines = function()
      for _, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
        shown[line] = true
      end
    end,
  })
  send(chat, 'hello')
  wait_for(chat, 'At')
  local last = text_of(chat)
  model:release()
  wait_for(chat, 'At last.')
  settled(chat)
  eq(true, shown['… Retrying in 1 s (1 of 3): local is overloaded: busy'])
  eq(true, shown['… Retrying (1 of 3): local is overloaded: busy'])
  eq(true, shown['… Retrying in 1 s (2 of 3): local is overloaded: still busy'])
  eq(nil, last:find('overloaded', 1, true))
  eq(nil, last:find('Retrying', 1, true))
  like('\n## You\n\nhello\n\n## m\n\nAt last%.%s*$', '\n' .. text_of(chat))
  eq('xcsh: m', require('xcsh').statusline())
end)

case('the error of a request that is not repeated is shown once', function()
  harness.model({ { overloaded = 'busy' } }, { retries = 0 })
  local chat = open()
  send(chat, 'hello')
  wait_for(chat, 'local is overloaded')
  settled(chat)
  harness.execute('xcsh.state') -- the answer to the prompt is here, too
  local _, times = text_of(chat):gsub('local is overloaded', '')
  eq(1, times)
  eq('', prompt_text(chat))
end)

case('streaming text changes no other line', function()
  local model = harness.model({
    { text = 'The first answer.' },
    { text = 'a\n\nb\n\nc d', held = true },
  })
  local chat = open()
  send(chat, 'one')
  wait_for(chat, 'The first answer')
  settled(chat)
  local before = vim.api.nvim_buf_line_count(chat.bufnr)
  local lowest = math.huge
  vim.api.nvim_buf_attach(chat.bufnr, false, {
    on_lines = function(_, _, _, first)
      lowest = math.min(lowest, first)
    end,
  })
  send(chat, 'two')
  wait('the answer to be held', function()
    return model.holding
  end)
  model:release()
  wait_for(chat, 'c d')
  settled(chat)
  -- The last line is empty before; new text begins there.
  eq(before - 1, lowest)
end)

case('an open fold stays open while text is streaming', function()
  file('a.txt', { 'one', 'two' })
  file('b.txt', { 'three' })
  local calls = {
    { id = 'c1', name = 'read', args = { path = 'a.txt' } },
    { id = 'c2', name = 'read', args = { path = 'b.txt' } },
  }
  local model = harness.model({
    { text = 'Reading.', calls = calls },
    { thinking = 'Now I know.', text = 'So it is', held = true },
  })
  local chat = open()
  send(chat, 'read both')
  wait('the answer to be held', function()
    return model.holding
  end)
  wait_for(chat, 'So\n')
  at(chat, '✓ read a.txt')
  press('za')
  eq(nil, closed(chat, '✓ read a.txt'))
  eq(3, closed(chat, '✓ read b.txt'))
  model:release()
  wait_for(chat, 'So it is')
  settled(chat)
  eq(nil, closed(chat, '✓ read a.txt'))
  eq(3, closed(chat, '✓ read b.txt'))
  eq(1, closed(chat, '∴ Thought process'))
end)

case('the window scrolls with new text only while the cursor is on the last line', function()
  local long = {}
  for i = 1, 60 do
    long[i] = 'line ' .. i .. '\n'
  end
  harness.model({ { text = 'first' }, { text = table.concat(long, '\n') }, { text = 'third' } })
  local chat = open()
  local function cursor()
    return vim.api.nvim_win_get_cursor(window_of(chat.bufnr))[1]
  end
  local function last()
    return vim.api.nvim_buf_line_count(chat.bufnr)
  end
  send(chat, 'one')
  wait_for(chat, 'first')
  settled(chat)
  eq(last(), cursor())
  send(chat, 'two')
  wait_for(chat, 'line 60')
  settled(chat)
  eq(last(), cursor())
  at(chat, 'line 5')
  local row = cursor()
  require('xcsh').execute('xcsh.prompt', { text = 'three' })
  wait_for(chat, 'third')
  settled(chat)
  eq(row, cursor())
end)

case('a pending tool call shows its change and waits for a key', function()
  demo()
  local path = file('a.txt', { 'one', 'two', 'three' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bufnr, 2, 3, false, { 'drei' }) -- not saved
  local chat = open()
  send(chat, 'edit a.txt: two => zwei')
  wait_for(chat, 'Allow xcsh to edit a.txt?')
  like('\n? edit a%.txt\n', text_of(chat))
  like('```diff\n.*\n%-two\n%+zwei\n drei\n```\na  allow\ns  allow for this session', text_of(chat))
  eq({}, harness.asked)
  eq({ 'one', 'two', 'drei' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  at(chat, '? edit a.txt')
  press('a')
  wait_for(chat, 'The tool edit returned')
  settled(chat)
  eq({ 'one', 'zwei', 'drei' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  eq({ 'one', 'two', 'three' }, vim.fn.readfile(path))
  eq(true, vim.bo[bufnr].modified)
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent undo')
  end)
  eq({ 'one', 'two', 'drei' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  like('✓ edit a%.txt\n```diff\n', text_of(chat))
end)

case('a tool call is denied with d, and allowed for the session with s', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  local chat = open()
  send(chat, 'edit a.txt: one => two')
  wait_for(chat, 'd  deny')
  at(chat, 'd  deny')
  press('d')
  wait_for(chat, 'denied this edit call')
  settled(chat)
  like('✗ edit a%.txt', text_of(chat))
  eq({ 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  send(chat, 'edit a.txt: one => two')
  wait_for(chat, 'd  deny')
  at(chat, 's  allow')
  press('s')
  wait_for(chat, 'The tool edit returned')
  settled(chat)
  send(chat, 'edit a.txt: two => three')
  wait('the second edit, unasked', function()
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)[1] == 'three'
  end)
  settled(chat)
  at(chat, 'two => three')
  press('a')
  harness.message('^No approval is pending%.$')
end)

case('a key answers only an approval that was visible before it was pressed', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local bufnr = vim.api.nvim_get_current_buf()
  local approve = require('xcsh.chat.approve')
  approve.quiet = 3600 * 1000 -- longer than the test: only the user's actions count
  local chat = open()
  send(chat, 'edit a.txt: one => two')
  -- The user is typing in the conversation when the question arrives.
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  wait_for(chat, 'd  deny')
  local id = chat.state.approvals[1].id
  eq(false, approve.armed(chat, id))
  for _, key in ipairs({ 'a', 's', 'd', '<CR>', 'a' }) do
    press(key)
  end
  harness.message('^This approval has just appeared%.')
  eq({ id }, { chat.state.approvals[1].id })
  eq({ 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  -- A pause in typing, or entering again, marks the question as read.
  vim.api.nvim_exec_autocmds('CursorHold', { buffer = chat.bufnr })
  eq(true, approve.armed(chat, id))
  press('a')
  wait_for(chat, 'The tool edit returned')
  settled(chat)
  eq({ 'two' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end)

case('an approval accepts keys after a moment without a key press', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local approve = require('xcsh.chat.approve')
  approve.quiet = 1
  local chat = open()
  send(chat, 'edit a.txt: one => two')
  wait('the question', function()
    local prompt = chat.state.approvals[1]
    return prompt and approve.armed(chat, prompt.id)
  end)
  at(chat, 'd  deny')
  press('d')
  wait_for(chat, 'denied this')
  settled(chat)
end)

---@param more? table
local function remote_prompt(more)
  return vim.tbl_extend('force', {
    id = 'm1',
    tool = 'mcp__tracker_list',
    args = { state = 'open' },
    preview = { title = 'Use list of tracker' },
    rules = { { server = 'tracker', tool = 'list', text = 'all calls of list of tracker' } },
    wider = { { server = 'tracker', reads = true, text = 'all reading tools of tracker' } },
  }, more or {})
end

case('all reading tools of a server can be allowed for the session', function()
  local server = require('scripted').start()
  local block = { type = 'toolCall', id = 'm1', name = 'mcp__tracker_list', arguments = {} }
  server.messages = {
    { entryId = 'e1', message = { role = 'user', content = 'Which issues are open?' } },
    { entryId = 'e2', message = { role = 'assistant', content = { block } } },
  }
  local approve = require('xcsh.chat.approve')
  approve.quiet = 3600 * 1000 -- longer than the test: only the user's actions count
  local chat = open()
  wait_for(chat, 'mcp__tracker_list')
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  -- Without wider rules, the key answers nothing.
  local narrow = remote_prompt()
  narrow.wider = nil
  server:event({ type = 'approvals_changed', approvals = { narrow } })
  wait_for(chat, '\nd  deny')
  eq(nil, text_of(chat):find('\nS  allow'))
  at(chat, 'd  deny')
  approve.arm(chat)
  press('S')
  harness.message('^Only the reading tools of a server can be allowed together%.')
  server:event({ type = 'approvals_changed', approvals = { remote_prompt() } })
  wait_for(
    chat,
    '\ns  [^\n]+: all calls of list of tracker\nS  [^\n]+: all reading tools of tracker\n'
  )
  eq({}, server:args('xcsh.approve'))
  at(chat, 'S  allow')
  approve.arm(chat)
  press('S')
  eq({ { id = 'm1', decision = 'session-wider' } }, server:wait_for('xcsh.approve'))
end)

case('the window of an approval offers the answers for all reading tools', function()
  local approvals = require('xcsh.approvals')
  ---@param params table
  ---@param lhs string
  local function answer(params, lhs)
    local decision ---@type string?
    params = vim.tbl_extend('force', params, { cwd = vim.fn.getcwd(), title = 'Use list' })
    coroutine.wrap(function()
      decision = approvals.ask(params).decision
    end)()
    vim.cmd('XcshApprovals')
    local lines = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    -- The footer is as wide as the window at most: the last keys would be cut off.
    local footer = vim.api.nvim_win_get_config(0).footer[1][1]
    like(' d deny · q later $', footer)
    eq(true, vim.api.nvim_strwidth(footer) <= 76)
    press(lhs)
    vim.wait(1000, function()
      return decision ~= nil
    end, 1)
    return decision, lines
  end
  for lhs, wanted in pairs({ S = 'session-wider', W = 'workspace-wider', w = 'workspace' }) do
    local decision, lines = answer(remote_prompt(), lhs)
    eq(wanted, decision)
    like('\nS  allow all reading tools for session\nW  always allow all reading tools\n', lines)
    like('“All reading tools” means: all reading tools of tracker', lines)
  end
  -- A scope that is too long to be read is not offered.
  local long = { { server = 'tracker', reads = true, text = ('x'):rep(1000) } }
  eq('', approvals.allows_wider(remote_prompt({ wider = long })))
  local _, lines = answer(remote_prompt({ wider = long }), 'd')
  eq(nil, lines:find('All reading tools', 1, true))
end)

---Starts a session with an MCP server of the user, whose tools a model calls one after the other.
---@param tools string[]
local function with_notes(tools)
  local script = assert(package.searchpath('servers', package.path))
  local server = { command = vim.env.XCSH_TEST_NVIM, args = { '-l', script } }
  local agent = vim.fs.dirname(harness.folder('.xcsh/agent/sessions'))
  vim.fn.writefile({ vim.json.encode({ mcpServers = { notes = server } }) }, agent .. '/mcp.json')
  local replies = {}
  for i, tool in ipairs(tools) do
    local call = { id = 'c' .. i, name = 'mcp_notes_' .. tool, args = vim.empty_dict() }
    replies[i] = { calls = { call } }
  end
  replies[#replies + 1] = { text = 'Read all.' }
  return harness.model(replies)
end

local reading = 'all tools of the MCP server notes that say they only read'

case('S allows all reading tools of a server for the session', function()
  with_notes({ 'find', 'count' })
  local chat = open()
  send(chat, 'go')
  wait_for(chat, 'd  deny')
  at(chat, 'S  allow for this session: ' .. reading)
  press('S')
  wait_for(chat, 'Read all%.')
  settled(chat)
  like('the result of find.*the result of count', text_of(chat))
end)

case('W allows all reading tools of a server in the directory', function()
  local service = with_notes({ 'find' })
  vim.cmd('XcshPrompt go')
  local question = harness.permit('W')
  like('“All reading tools” means: ' .. reading, question)
  local function answered(count)
    wait('the answer', function()
      return #service.requests == count and not harness.execute('xcsh.state').isStreaming
    end)
  end
  answered(2)
  harness.execute('xcsh.new')
  local call = { id = 'c9', name = 'mcp_notes_count', args = vim.empty_dict() }
  vim.list_extend(service.answers, { { calls = { call } }, { text = 'Done.' } })
  harness.execute('xcsh.prompt', { text = 'go on' })
  answered(4)
  local last = service.requests[4].messages
  eq('the result of count', last[#last].content)
end)

case('warnings about a tool call are shown', function()
  local approvals = require('xcsh.approvals')
  local params = {
    title = 'Run make',
    tool = 'bash',
    outside = { '/etc/x' },
    protected = { '.envrc', '.husky/pre-commit' },
    unsandboxed = true,
    blocked = { 'connect to example.org', 'write /etc/x' },
    rules = { { text = 'make in this folder', words = { 'make' } } },
  }
  eq({
    'Allow xcsh to run this command? make',
    'Runs once outside the sandbox. Blocked: connect to example.org',
    '                                        write /etc/x',
    'Refers to protected files: .envrc',
    '                           .husky/pre-commit',
    'Outside the folder: /etc/x',
  }, approvals.question(params))
  eq('make in this folder', approvals.allows(params))
  like('^%[outside the sandbox%] %[protected files%] Allow xcsh to', approvals.summary(params))
  local page = require('xcsh.chat.page').new()
  local block = { name = 'bash', arguments = { command = 'make' } }
  local prompt = { id = 'p', tool = 'bash', changed = true, protected = { '.envrc' }, preview = {} }
  require('xcsh.chat.calls').add(page, block, { status = 'waiting', approval = prompt })
  like('Changed protected files: .envrc', table.concat(page.lines, '\n'))
  -- Servers without this feature omit these members.
  local plain = { tool = 'bash', args = { command = 'ls' }, rules = { { words = { 'ls' } } } }
  eq(
    { 'Allow xcsh to use bash? {"command": "ls"}' },
    { (approvals.question(plain)[1]:gsub('":"', '": "')) }
  )
  eq('ls …', approvals.allows(plain))
  -- A subagent is named, and the transcripts of a call can be opened.
  local named = { tool = 'bash', title = 'Run ls', task = 'Scouty', args = { command = 'ls' } }
  eq({ 'In task Scouty: Allow xcsh to run this command? ls' }, approvals.question(named))
  local calls, task = require('xcsh.chat.page').new(), { name = 'task', arguments = {} }
  local progress = {
    { id = 'A', status = 'running', sessionFile = '/s/A.jsonl' },
    { id = 'B', status = 'pending' },
  }
  require('xcsh.chat.calls').add(
    calls,
    task,
    { status = 'running', output = { details = { progress = progress } } }
  )
  local results = { { id = 'C', outputPath = '/s/C.md' } }
  require('xcsh.chat.calls').add(
    calls,
    task,
    { status = 'done', output = { details = { results = results } } }
  )
  local shown = table.concat(calls.lines, '\n')
  like(':XcshTranscript /s/A%.jsonl', shown)
  like(':XcshTranscript /s/C%.jsonl', shown)
end)

case('the user reads a plan and rejects it with a reason', function()
  local function writes(path)
    return { id = 'w' .. path, name = 'write', args = { path = path, content = '# The plan' } }
  end
  harness.model({
    { text = 'One.', calls = { writes('local://PLAN.md') } },
    { text = 'Two.', calls = { { id = 'p1', name = 'exit_plan_mode', args = { title = 'P' } } } },
    { text = 'Three.' },
  })
  local chat = open()
  harness.execute('xcsh.setMode', { mode = 'plan' })
  wait('the state', function()
    return require('xcsh.chat.windows').about(chat):find('plan mode', 1, true) ~= nil
  end)
  send(chat, 'plan it')
  wait_for(chat, 'd  deny')
  like('%+# The plan', text_of(chat))
  local input, prompt = vim.ui.input, nil
  vim.ui.input = function(options, answer)
    prompt = options.prompt
    answer('Use JWT.')
  end
  at(chat, 'd  deny')
  press('d')
  wait_for(chat, 'did not approve the plan')
  vim.ui.input = input
  like('change in the plan', prompt)
  settled(chat)
  like('Use JWT.', harness.execute('xcsh.dump').text)
  eq('plan', chat.state.session.mode)
  harness.execute('xcsh.setMode', { mode = 'plan_paused' })
  wait('the paused state', function()
    return require('xcsh.chat.windows').about(chat):find('plan mode paused', 1, true) ~= nil
  end)
end)

case('a pending approval is announced when its chat is closed', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local chat = open()
  send(chat, 'edit a.txt: one => two')
  wait_for(chat, 'd  deny')
  eq({}, harness.asked)
  eq({}, harness.notified)
  require('xcsh.chat').hide()
  harness.permit('d')
  settled(chat)
  like('denied this', text_of(chat))
end)

case('the approval of a long command shows all of it', function()
  local command = 'echo ' .. ('x'):rep(9000) .. '; rm -rf everything'
  local calls = { { id = 'c1', name = 'bash', args = { command = command } } }
  harness.model({ { text = 'So.', calls = calls }, { text = 'Pity.' } })
  local chat = open()
  send(chat, 'do it')
  wait_for(chat, 'd  deny')
  like('xxx; rm %-rf everything\n', text_of(chat):match('Allow xcsh to.*a  allow'))
  at(chat, 'd  deny')
  press('d')
  wait_for(chat, 'Pity')
  settled(chat)
  eq(nil, text_of(chat):find('\nd  deny', 1, true))
end)

case('gf and <CR> open the file under the cursor', function()
  demo()
  local path = file('a.txt', { 'one', 'two', 'three' })
  local chat = open()
  send(chat, 'see a.txt:2 and (./a.txt), or nothing.txt')
  wait('the turn', function()
    return #user_messages(chat) == 1
  end)
  settled(chat)
  at(chat, 'see a.txt:2')
  vim.fn.search('a.txt:2', 'c', vim.fn.line('.'))
  press('gf')
  eq({ path, 2 }, { vim.api.nvim_buf_get_name(0), vim.fn.line('.') })
  at(chat, 'see a.txt:2')
  vim.fn.search('./a.txt', 'c', vim.fn.line('.'))
  press('<CR>')
  eq(path, vim.api.nvim_buf_get_name(0))
  at(chat, 'see a.txt:2')
  vim.fn.search('nothing', 'c', vim.fn.line('.'))
  press('gf')
  harness.message('^No file under the cursor%.$')
  eq(chat.bufnr, vim.api.nvim_get_current_buf())
end)

case('the plan of the session is shown', function()
  local chat = open()
  local phases = {
    {
      name = 'Build',
      tasks = {
        { content = 'look', status = 'completed' },
        { content = 'write', status = 'in_progress' },
        { content = 'test', status = 'pending' },
      },
    },
  }
  local reduce = require('xcsh.chat.state').reduce
  reduce(chat.state, {
    type = 'notification',
    n = {
      cwd = chat.cwd,
      sessionId = chat.state.sync.sessionId,
      seq = chat.state.sync.seq + 1,
      event = {
        type = 'message_end',
        entryId = 'e1',
        message = {
          role = 'toolResult',
          toolName = 'todo_write',
          toolCallId = 't1',
          content = {},
          details = { phases = phases },
        },
      },
    },
  })
  require('xcsh.chat.render').update(chat.bufnr, chat.state)
  like('Plan: Build\n%- %[x%] look\n%- %[%-%] write\n%- %[ %] test\n', text_of(chat))
end)

case('untrusted text has no effect', function()
  local folder = vim.fn.getcwd()
  local hostile = table.concat({
    '\27]0;title\7\27[31mred\27[0m\0nul',
    'vim: set ft=evil modeline:',
    'fold {{{1',
    '}}}',
    '```',
    'an open fence',
    ('x'):rep(1024 * 1024),
    'abc\226\128\174def',
    '## You',
    '<!-- a --><span style="display:none">hidden</span>',
    'a\rb',
  }, '\n')
  local path =
    harness.session(folder, '15d56a686bbe6801', 'Hello\n## demo\nvim: set ft=evil:', hostile)
  local before = vim.fn.readblob(path)
  local chat = open()
  vim.cmd('XcshResume 15d56a686bbe6801')
  wait_for(chat, '%[31mred')
  local text = text_of(chat)
  eq(nil, text:find('[%z\1-\9\11-\31\127]'))
  like('␛%]0;title␇␛%[31mred␛%[0m␀nul', text)
  like('abc<202e>def', text)
  like('%[a line of 1048576 bytes%]', text)
  like('a␍b\n```\n\n', text) -- the fence is closed
  eq('xcsh', vim.bo[chat.bufnr].filetype)
  local window = window_of(chat.bufnr)
  eq({ 0, 'manual' }, { vim.wo[window].conceallevel, vim.wo[window].foldmethod })
  vim.api.nvim_win_call(window, function()
    for row = 1, vim.fn.line('$') do
      eq(0, vim.fn.foldlevel(row))
    end
  end)
  -- Only a user's message is a prompt, whatever its text looks like.
  vim.api.nvim_set_current_win(window)
  press('gg]]')
  eq(1, vim.fn.line('.'))
  eq(before, vim.fn.readblob(path))
  for _, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    eq(true, #line < 5000)
  end
end)
