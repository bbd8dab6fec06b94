-- The chat: a conversation in a buffer, and what a person can do in it.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

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

---Opens the chat and waits until it shows the session.
---@param cwd? string
local function open(cwd)
  local chat = require('xcsh.chat').open(cwd)
  wait('the session in the chat', function()
    return chat.state.sync.live
  end)
  return chat
end

local function text_of(chat)
  return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), '\n')
end

---@param pattern string
local function wait_for(chat, pattern)
  return wait('the chat to show ' .. pattern, function()
    return text_of(chat):find(pattern)
  end)
end

---Waits until the turn is over and everything is drawn.
local function settled(chat)
  wait('the turn to be over', function()
    return chat.state.sync.live and not chat.state.running and not chat.pending
  end)
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

local function window_of(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  assert(window ~= -1, 'it is not on the screen')
  return window
end

---Writes into the prompt and presses a key there.
local function send(chat, text, key)
  vim.api.nvim_set_current_win(window_of(chat.input))
  require('xcsh.chat.input').set(chat, text)
  press(key or '<CR>')
end

---Puts the cursor of the conversation on the first line with the text.
local function at(chat, text)
  local window = window_of(chat.bufnr)
  vim.api.nvim_set_current_win(window)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then
      vim.api.nvim_win_set_cursor(window, { row, 0 })
      return row
    end
  end
  error(('no line has %q:\n%s'):format(text, text_of(chat)))
end

---What a closed fold that begins with the line ends with; nil when it is open or none.
local function closed(chat, text)
  local row = at(chat, text)
  return vim.fn.foldclosed(row) == row and vim.fn.foldclosedend(row) - row or nil
end

local function user_messages(chat)
  local said = {}
  for _, item in ipairs(chat.state.items) do
    if item.message.role == 'user' then
      table.insert(said, require('xcsh.wire').text_of(item.message))
    end
  end
  return said
end

local function prompt_text(chat)
  return require('xcsh.chat.input').text(chat)
end

case('a prompt, the tool it leads to and the answer are shown', function()
  demo()
  file('a.txt', { 'one', 'two' })
  local chat = open()
  like('Nothing was said yet', text_of(chat))
  send(chat, 'what is in a.txt?')
  wait_for(chat, 'answered with 2 lines')
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

case('an answer is on the screen while it is written', function()
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
  eq(1, closed(chat, '∴ Thought'))
  eq('xcsh: m', require('xcsh').statusline())
end)

case('text that grows changes no other line', function()
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
  -- The last line is empty before; what is new begins there.
  eq(before - 1, lowest)
end)

case('a fold that was opened stays open while text is written', function()
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
  eq(1, closed(chat, '∴ Thought'))
end)

case('the view follows the end only while the cursor is there', function()
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

case('a tool call waits for a key in the conversation, with its change on the screen', function()
  demo()
  local path = file('a.txt', { 'one', 'two', 'three' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bufnr, 2, 3, false, { 'drei' }) -- not saved
  local chat = open()
  send(chat, 'edit a.txt: two => zwei')
  wait_for(chat, 'xcsh wants to: Edit a.txt')
  like('\n? edit a%.txt\n', text_of(chat))
  like('```diff\n.*\n%-two\n%+zwei\n drei\n```\na  allow\ns  allow for this session', text_of(chat))
  eq({}, harness.asked)
  eq({ 'one', 'two', 'drei' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  at(chat, '? edit a.txt')
  press('a')
  wait_for(chat, 'The tool edit answered')
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
  wait_for(chat, 'did not allow this edit call')
  settled(chat)
  like('✗ edit a%.txt', text_of(chat))
  eq({ 'one' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  send(chat, 'edit a.txt: one => two')
  wait_for(chat, 'd  deny')
  at(chat, 's  allow')
  press('s')
  wait_for(chat, 'The tool edit answered')
  settled(chat)
  send(chat, 'edit a.txt: two => three')
  wait('the second edit, unasked', function()
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)[1] == 'three'
  end)
  settled(chat)
  at(chat, 'two => three')
  press('a')
  harness.message('^Nothing waits for your answer%.$')
end)

case('a question in a chat that is closed is asked in another place', function()
  demo()
  vim.cmd.edit(file('a.txt', { 'one' }))
  local chat = open()
  send(chat, 'edit a.txt: one => two')
  wait_for(chat, 'd  deny')
  eq({}, harness.asked)
  harness.answer('Deny')
  require('xcsh.chat').hide()
  wait('the question', function()
    return harness.asked[1]
  end)
  settled(chat)
  like('did not allow', text_of(chat))
end)

case('what is said while a turn runs steers it or waits for its end', function()
  local model = harness.model({
    { text = 'one two', held = true },
    { text = 'steered' },
    { text = 'followed' },
  })
  local chat = open()
  send(chat, 'begin')
  wait('the answer to be held', function()
    return model.holding
  end)
  send(chat, 'go left', '<C-s>')
  wait_for(chat, '» steering: go left')
  send(chat, 'and then?', '<C-f>')
  wait_for(chat, '» follow%-up: and then%?')
  model:release()
  wait_for(chat, 'followed')
  settled(chat)
  eq({ 'begin', 'go left', 'and then?' }, user_messages(chat))
  eq(nil, text_of(chat):find('»', 1, true))
  like('go left', vim.inspect(model.requests[2].messages))
  eq(nil, vim.inspect(model.requests[2].messages):find('and then', 1, true))
end)

case('a turn is stopped, and what waited comes back into the prompt', function()
  local model = harness.model({ { text = 'one two', held = true } })
  local chat = open()
  send(chat, 'begin')
  wait('the answer to be held', function()
    return model.holding
  end)
  send(chat, 'later', '<C-f>')
  wait_for(chat, '» follow%-up: later')
  press('<C-c>')
  settled(chat)
  wait('the text that waited', function()
    return prompt_text(chat) == 'later'
  end)
  eq(nil, text_of(chat):find('Working', 1, true))
end)

case('a prompt that the server refuses comes back, with the reason', function()
  require('xcsh').setup({})
  local chat = open()
  send(chat, 'hello')
  wait_for(chat, '✗ No model is chosen')
  eq('hello', prompt_text(chat))
end)

case('up and down in the prompt step through what was said before', function()
  demo()
  local chat = open()
  for _, said in ipairs({ 'first', 'second\nin two lines' }) do
    send(chat, said)
    wait('the turn', function()
      return #user_messages(chat) > 0 and user_messages(chat)[#user_messages(chat)] == said
    end)
    settled(chat)
  end
  vim.api.nvim_set_current_win(window_of(chat.input))
  require('xcsh.chat.input').set(chat, 'a draft')
  press('<Up>')
  eq('second\nin two lines', prompt_text(chat))
  press('<Up>') -- within the two lines
  eq({ 1, 'second\nin two lines' }, { vim.fn.line('.'), prompt_text(chat) })
  press('<Up>')
  eq('first', prompt_text(chat))
  press('<Down>')
  eq('second\nin two lines', prompt_text(chat))
  press('<Down>')
  eq('a draft', prompt_text(chat))
end)

case('a chat shows the session that the server began again with', function()
  demo()
  file('a.txt', { 'one' })
  local chat = open()
  send(chat, 'look at a.txt')
  wait_for(chat, 'answered with 1 line')
  settled(chat)
  local id = chat.state.session.sessionId
  vim.lsp.get_clients()[1].rpc.terminate()
  wait('the end of the server', function()
    return not chat.state.sync.running and not chat.pending
  end)
  like('The server does not run; R or the next message', text_of(chat))
  like('look at a%.txt', text_of(chat))
  send(chat, 'look at a.txt again')
  wait('both prompts', function()
    return #user_messages(chat) == 2
  end)
  settled(chat)
  eq(id, chat.state.session.sessionId)
  eq({ 'look at a.txt', 'look at a.txt again' }, user_messages(chat))
end)

case('a chat on the screen starts the server again by itself', function()
  demo()
  file('a.txt', { 'one' })
  local chat = open()
  send(chat, 'look at a.txt')
  wait_for(chat, 'answered with 1 line')
  settled(chat)
  local id = chat.state.session.sessionId
  local before = vim.lsp.get_clients()[1].id
  require('xcsh.client').min_life = 0
  vim.lsp.get_clients()[1].rpc.terminate()
  wait('another server', function()
    local now = vim.lsp.get_clients()[1]
    return now and now.id ~= before and chat.state.sync.live and not chat.pending
  end)
  eq({ id, { 'look at a.txt' } }, { chat.state.session.sessionId, user_messages(chat) })
  eq(nil, text_of(chat):find('does not run', 1, true))
end)

case('all of a long command is shown before it may run', function()
  local command = 'echo ' .. ('x'):rep(9000) .. '; rm -rf everything'
  local calls = { { id = 'c1', name = 'bash', args = { command = command } } }
  harness.model({ { text = 'So.', calls = calls }, { text = 'Pity.' } })
  local chat = open()
  send(chat, 'do it')
  wait_for(chat, 'd  deny')
  like('xxx; rm %-rf everything\n', text_of(chat):match('xcsh wants to.*a  allow'))
  at(chat, 'd  deny')
  press('d')
  wait_for(chat, 'Pity')
  settled(chat)
  eq(nil, text_of(chat):find('\nd  deny', 1, true))
end)

case('a chat that is hidden goes on, and is what it was when it is shown again', function()
  demo()
  file('a.txt', { 'one' })
  local chat = open()
  press('q')
  eq(-1, vim.fn.bufwinid(chat.bufnr))
  eq(-1, vim.fn.bufwinid(chat.input))
  harness.execute('xcsh.prompt', { text = 'look at a.txt' })
  settled(chat)
  vim.cmd('XcshChat!')
  eq(chat.bufnr, require('xcsh.chat').get().bufnr)
  wait_for(chat, 'answered with 1 line')
  eq(3, closed(chat, '✓ read a.txt'))
  vim.cmd('XcshChat!')
  eq(false, require('xcsh.chat').visible(vim.fn.getcwd()))
end)

case('each folder has a chat of its own', function()
  demo()
  local one = open()
  local other_folder = harness.folder('other')
  vim.fn.writefile({ 'x', 'y', 'z' }, other_folder .. '/b.txt')
  vim.cmd.cd(other_folder)
  local other = open()
  eq(true, one.bufnr ~= other.bufnr)
  send(other, 'look at b.txt')
  send(one, 'what is here?')
  wait_for(other, 'answered with 3 lines')
  wait_for(one, 'The tool ls')
  settled(one)
  settled(other)
  eq({ 'look at b.txt' }, user_messages(other))
  eq({ 'what is here?' }, user_messages(one))
end)

case('another session that becomes live is shown', function()
  local folder = vim.fn.getcwd()
  harness.session(folder, '15d56a686bbe6801', 'How do boats float?', 'By displacing water.')
  local chat = open()
  vim.cmd('XcshResume 15d56a686bbe6801')
  wait_for(chat, 'By displacing water%.')
  like('## claude%-sonnet%-4%-5', text_of(chat))
  vim.cmd('XcshNew')
  wait_for(chat, 'Nothing was said yet')
end)

case('[[ and ]] go from prompt to prompt', function()
  demo()
  local chat = open()
  for i = 1, 3 do
    send(chat, 'number ' .. i)
    wait('the turn', function()
      return #user_messages(chat) == i
    end)
    settled(chat)
  end
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  press('G[[')
  eq('## You', vim.api.nvim_get_current_line())
  local third = vim.fn.line('.')
  press('[[')
  local second = vim.fn.line('.')
  eq('number 2', vim.fn.getline(second + 2))
  press('[[')
  eq('number 1', vim.fn.getline(vim.fn.line('.') + 2))
  press('[[')
  eq(1, vim.fn.line('.'))
  press('2]]')
  eq(third, vim.fn.line('.'))
end)

case('e goes back before a prompt, and b to the branch that was left', function()
  harness.model({ { text = 'red' }, { text = 'blue' }, { text = 'green' } })
  local chat = open()
  send(chat, 'first')
  wait_for(chat, 'red')
  settled(chat)
  send(chat, 'second')
  wait_for(chat, 'blue')
  settled(chat)
  at(chat, 'second')
  press('e')
  wait('the prompt to edit', function()
    return prompt_text(chat) == 'second'
  end)
  wait('the conversation before it', function()
    return chat.state.sync.live and not text_of(chat):find('blue')
  end)
  send(chat, 'second, in other words')
  wait_for(chat, 'green')
  settled(chat)
  eq({ 'first', 'second, in other words' }, user_messages(chat))
  at(chat, 'in other words')
  harness.answer('user: second')
  press('b')
  wait_for(chat, 'blue')
  eq({ 'first', 'second' }, user_messages(chat))
  eq(1, #harness.asked[1].lines)
  at(chat, 'first')
  press('b')
  harness.message('^No other branch begins here%.$')
end)

case('F goes on in a copy from before a prompt', function()
  harness.model({ { text = 'red' }, { text = 'blue' } })
  local chat = open()
  send(chat, 'first')
  wait_for(chat, 'red')
  settled(chat)
  send(chat, 'second')
  wait_for(chat, 'blue')
  settled(chat)
  local id = chat.state.session.sessionId
  at(chat, 'second')
  press('F')
  wait('the prompt to edit', function()
    return prompt_text(chat) == 'second'
  end)
  wait('the copy', function()
    return chat.state.sync.live and chat.state.session.sessionId ~= id
  end)
  eq({ 'first' }, user_messages(chat))
end)

case('gf and Enter open the files that are named', function()
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
  harness.message('^There is no file below the cursor%.$')
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

case('what a session says acts on nothing', function()
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
  -- Only what was said by a person is a prompt, whatever a text looks like.
  vim.api.nvim_set_current_win(window)
  press('gg]]')
  eq(1, vim.fn.line('.'))
  eq(before, vim.fn.readblob(path))
  for _, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    eq(true, #line < 5000)
  end
end)

case('a session of 5000 messages is shown whole', function()
  local folder = vim.fn.getcwd()
  local path = harness.session(folder, '15d56a686bbe6801', 'begin', 'well')
  local lines = vim.fn.readfile(path)
  local parent = 'bbbbbbbb'
  for i = 1, 2500 do
    local user, answer = ('u%07d'):format(i), ('a%07d'):format(i)
    local call = { type = 'toolCall', id = 'c' .. i, name = 'read', arguments = { path = 'x' } }
    for _, entry in ipairs({
      { user, parent, { role = 'user', content = 'question ' .. i, timestamp = i } },
      {
        answer,
        user,
        {
          role = 'assistant',
          provider = 'anthropic',
          model = 'm',
          api = 'anthropic-messages',
          content = { { type = 'text', text = 'answer ' .. i }, i % 10 == 0 and call or nil },
          stopReason = 'stop',
          timestamp = i,
        },
      },
    }) do
      table.insert(
        lines,
        vim.json.encode({
          type = 'message',
          id = entry[1],
          parentId = entry[2],
          timestamp = '2026-02-16T10:20:00.000Z',
          message = entry[3],
        })
      )
    end
    parent = answer
  end
  vim.fn.writefile(lines, path)
  local chat = open()
  local began = vim.uv.hrtime()
  vim.cmd('XcshResume 15d56a686bbe6801')
  wait_for(chat, 'answer 2500')
  settled(chat)
  local took = math.floor((vim.uv.hrtime() - began) / 1e6)
  eq(5002, #chat.state.items)
  io.stdout:write(('# 5002 messages on the screen after %d ms\n'):format(took))
  began = vim.uv.hrtime()
  require('xcsh.chat.state').reduce(chat.state, { type = 'notice', text = 'one more line' })
  require('xcsh.chat.render').update(chat.bufnr, chat.state)
  took = math.floor((vim.uv.hrtime() - began) / 1e3)
  like('· one more line\n$', text_of(chat))
  io.stdout:write(('# one more line after %d microseconds\n'):format(took))
end)

case('? shows every key', function()
  local chat = open()
  at(chat, 'Nothing was said')
  press('?')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  local keys = require('xcsh.chat.keys')
  for _, key in ipairs(vim.list_extend(vim.list_slice(keys.conversation), keys.prompt)) do
    like(vim.pesc(key.lhs) .. ' +' .. vim.pesc(key.does), text)
    eq(true, vim.fn.maparg(key.lhs, 'n') ~= nil)
  end
  press('q')
  eq(chat.bufnr, vim.api.nvim_get_current_buf())
end)

case(':XcshChat with a text says it, and :XcshPrompt does not cover the chat', function()
  demo()
  vim.cmd('XcshChat what is here?')
  local chat = require('xcsh.chat').get()
  wait_for(chat, 'The tool ls answered')
  settled(chat)
  vim.cmd('XcshPrompt and now?')
  wait('the second turn', function()
    return #user_messages(chat) == 2
  end)
  settled(chat)
  eq(-1, vim.fn.bufwinid('xcsh://answer'))
end)

case('lines of a file go with what is said next, and only with that', function()
  local model = harness.model({ { text = 'Seen.' }, { text = 'Yes.' } })
  local path = file('a.txt', { 'one', 'two', 'three' })
  vim.cmd.edit(path)
  vim.cmd('2,3XcshChat')
  local chat = require('xcsh.chat').get()
  wait('the session in the chat', function()
    return chat.state.sync.live
  end)
  like('⎘ a.txt:2%-3 · <CR>', require('xcsh.chat.windows').bar('input'))
  send(chat, 'what is that?')
  wait_for(chat, 'Seen')
  settled(chat)
  like('⎘ .-a%.txt:2%-3\n```\ntwo\nthree\n```\nwhat is that%?', text_of(chat))
  eq(4, closed(chat, '⎘ '))
  like('lines=.?"2%-3', vim.inspect(model.requests[1].messages))
  send(chat, 'really?')
  wait_for(chat, 'Yes')
  settled(chat)
  like('\nreally%?\n', text_of(chat))
  local last = model.requests[2].messages[#model.requests[2].messages]
  eq(nil, vim.inspect(last):find('lines=', 1, true))
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  vim.cmd('1,2XcshChat')
  harness.message('^Only lines of a file can be shown to the model%.$')
end)

case('the beginning and the end of a turn are autocommands', function()
  demo()
  local seen = {}
  for _, name in ipairs({ 'XcshTurnStart', 'XcshTurnEnd' }) do
    vim.api.nvim_create_autocmd('User', {
      pattern = name,
      callback = function(event)
        table.insert(seen, { name, event.data.cwd, event.data.stopReason })
      end,
    })
  end
  harness.execute('xcsh.prompt', { text = 'what is here?' })
  wait('the end', function()
    return #seen == 2
  end)
  local cwd = vim.fn.getcwd()
  eq({ { 'XcshTurnStart', cwd }, { 'XcshTurnEnd', cwd, 'stop' } }, seen)
end)
