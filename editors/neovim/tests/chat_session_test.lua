-- The session of a chat: server restarts, session changes, branches and forks.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local demo, file, open, text_of = chats.demo, chats.file, chats.open, chats.text_of
local wait_for, settled, press, window_of =
  chats.wait_for, chats.settled, chats.press, chats.window_of
local send, at, closed, user_messages = chats.send, chats.at, chats.closed, chats.user_messages
local prompt_text = chats.prompt_text

case('a chat shows the session that a restarted server resumes', function()
  demo()
  file('a.txt', { 'one' })
  local chat = open()
  send(chat, 'look at a.txt')
  wait_for(chat, 'returned 1 line')
  settled(chat)
  local id = chat.state.session.sessionId
  require('xcsh.client').min_life = math.huge -- on a slow machine, too, it is not restarted
  vim.lsp.get_clients()[1].rpc.terminate()
  wait('the end of the server', function()
    return not chat.state.sync.running and not chat.pending
  end)
  like('The server is not running%. Press R or send a message', text_of(chat))
  like('look at a%.txt', text_of(chat))
  send(chat, 'look at a.txt again')
  wait('both prompts', function()
    return #user_messages(chat) == 2
  end)
  settled(chat)
  eq(id, chat.state.session.sessionId)
  eq({ 'look at a.txt', 'look at a.txt again' }, user_messages(chat))
end)

case('a visible chat restarts the server', function()
  demo()
  file('a.txt', { 'one' })
  local chat = open()
  send(chat, 'look at a.txt')
  wait_for(chat, 'returned 1 line')
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

case('a hidden chat keeps following its session', function()
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
  wait_for(chat, 'returned 1 line')
  eq(3, closed(chat, '✓ read a.txt'))
  vim.cmd('XcshChat!')
  eq(false, require('xcsh.chat').visible(vim.fn.getcwd()))
end)

case('each folder has its own chat', function()
  demo()
  local one = open()
  local other_folder = harness.folder('other')
  vim.fn.writefile({ 'x', 'y', 'z' }, other_folder .. '/b.txt')
  vim.cmd.cd(other_folder)
  local other = open()
  eq(true, one.bufnr ~= other.bufnr)
  send(other, 'look at b.txt')
  send(one, 'what is here?')
  wait_for(other, 'returned 3 lines')
  wait_for(one, 'The tool ls')
  settled(one)
  settled(other)
  eq({ 'look at b.txt' }, user_messages(other))
  eq({ 'what is here?' }, user_messages(one))
end)

case('the chat follows a switch to another session', function()
  local folder = vim.fn.getcwd()
  harness.session(folder, '15d56a686bbe6801', 'How do boats float?', 'By displacing water.')
  local chat = open()
  vim.cmd('XcshResume 15d56a686bbe6801')
  wait_for(chat, 'By displacing water%.')
  like('## claude%-sonnet%-4%-5', text_of(chat))
  vim.cmd('XcshNew')
  wait_for(chat, 'No messages yet')
end)

case('[[ and ]] move between prompts', function()
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

case('e goes back to before a prompt, and b returns to the other branch', function()
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
  harness.message('^No other branch starts here%.$')
end)

case('F forks the session before a prompt', function()
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

---Appends a prompt to the session's file, as another program does.
local function theirs(chat, id, parent, said)
  local entry = {
    type = 'message',
    id = id,
    parentId = parent,
    timestamp = '2026-02-16T10:20:00.000Z',
    message = { role = 'user', content = said, timestamp = 1 },
  }
  vim.fn.writefile({ vim.json.encode(entry) }, chat.state.session.file, 'a')
end

---Opens a chat in which the user has two answers. Another program continues after the first.
local function diverged()
  harness.model({ { text = 'red' }, { text = 'blue' }, { text = 'green' } })
  local chat = open()
  for _, said in ipairs({ 'first', 'second' }) do
    send(chat, said)
    wait_for(chat, said == 'first' and 'red' or 'blue')
    settled(chat)
  end
  local fork = chat.state.items[2].entryId
  theirs(chat, 'f0000001', fork, 'their question')
  wait_for(chat, 'Another program continued on another branch %(their question%)%. Press B')
  eq({ 'first', 'second' }, user_messages(chat))
  return chat
end

case("B follows another program's branch", function()
  local chat = diverged()
  theirs(chat, 'f0000002', 'f0000001', 'their next')
  wait_for(chat, '%(their next%)')
  eq({}, harness.asked) -- without a question, however much they write
  at(chat, 'second')
  harness.answer('Follow')
  press('B')
  wait('the other branch', function()
    return vim.deep_equal({ 'first', 'their question', 'their next' }, user_messages(chat))
  end)
  eq(3, #harness.asked[1].lines)
  wait('the end of the notice', function()
    return not text_of(chat):find('continued on another')
  end)
  press('B')
  harness.message('^No other program has continued')
end)

case('B stays on the own branch, or continues it in a fork', function()
  local chat = diverged()
  local path = chat.state.session.file
  at(chat, 'second')
  harness.answer('Fork')
  press('B')
  wait('the fork', function()
    return chat.state.sync.live and chat.state.session.file ~= path
  end)
  eq({ 'first', 'second' }, user_messages(chat))
  eq(nil, text_of(chat):find('continued on another'))
end)

case("another program's branch is announced once if the chat is hidden", function()
  local chat = diverged()
  at(chat, 'second')
  harness.answer('Stay')
  press('B')
  wait('the end of the notice', function()
    return not text_of(chat):find('continued on another')
  end)
  require('xcsh.chat').hide(chat.cwd)
  theirs(chat, 'f0000003', 'f0000001', 'more of the same')
  theirs(chat, 'e0000001', chat.state.items[1].entryId, 'elsewhere')
  theirs(chat, 'e0000002', 'e0000001', 'elsewhere again')
  harness.message('^Another program continued on another branch %(elsewhere.*:XcshChooseBranch%.$')
  wait('the newest line', function()
    return chat.state.foreign and chat.state.foreign.entryId == 'e0000002'
  end)
  eq(1, #vim.tbl_filter(function(shown)
    return shown.message:find('another branch')
  end, harness.notified))
  require('xcsh.chat').open(chat.cwd)
  wait_for(chat, 'elsewhere again')
end)

case('the start and end of a turn trigger autocommands', function()
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
