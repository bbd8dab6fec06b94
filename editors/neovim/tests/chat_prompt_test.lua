-- The prompt of a chat: sending messages, their timing, and the prompt history.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local demo, file, open, text_of = chats.demo, chats.file, chats.open, chats.text_of
local wait_for, settled, press, window_of =
  chats.wait_for, chats.settled, chats.press, chats.window_of
local send, at, closed, user_messages = chats.send, chats.at, chats.closed, chats.user_messages
local prompt_text = chats.prompt_text

case('a message during a turn is sent to it or queued until it ends', function()
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
  wait_for(chat, '» Sending next: go left')
  send(chat, 'and then?', '<C-f>')
  wait_for(chat, '» Queued: and then%?')
  model:release()
  wait_for(chat, 'followed')
  settled(chat)
  eq({ 'begin', 'go left', 'and then?' }, user_messages(chat))
  eq(nil, text_of(chat):find('»', 1, true))
  like('go left', vim.inspect(model.requests[2].messages))
  eq(nil, vim.inspect(model.requests[2].messages):find('and then', 1, true))
end)

case('a turn is stopped, and queued messages return to the prompt', function()
  local model = harness.model({ { text = 'one two', held = true } })
  local chat = open()
  send(chat, 'begin')
  wait('the answer to be held', function()
    return model.holding
  end)
  send(chat, 'later', '<C-f>')
  wait_for(chat, '» Queued: later')
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

case('<Up> and <Down> in the prompt recall earlier prompts', function()
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

case('prompts of other sessions are recalled and searched', function()
  demo()
  local chat = open()
  send(chat, 'the albatross')
  settled(chat)
  wait('the session', function()
    return #user_messages(chat) == 1
  end)
  -- A chat that starts later, in its own session, gets the prompt from the server.
  harness.execute('xcsh.new', { onRunning = 'stop' })
  vim.cmd('bwipeout! ' .. chat.bufnr .. ' ' .. chat.input)
  chat = open()
  wait('an empty session', function()
    return chat.state.sync.live and #user_messages(chat) == 0
  end)
  vim.api.nvim_set_current_win(window_of(chat.input))
  wait('the history', function()
    press('<Up>')
    return prompt_text(chat) == 'the albatross'
  end)
  press('<Down>')
  eq('', prompt_text(chat))

  harness.answer('the albatross')
  vim.cmd('XcshHistory alba')
  wait('the choice', function()
    return prompt_text(chat) == 'the albatross'
  end)
  eq({ 'the albatross' }, harness.asked[1].lines)
end)

case('? shows every key', function()
  local chat = open()
  at(chat, 'No messages yet')
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

case(':XcshChat sends its argument, and :XcshPrompt does not cover the chat', function()
  demo()
  vim.cmd('XcshChat what is here?')
  local chat = require('xcsh.chat').get()
  wait_for(chat, 'The tool ls returned')
  settled(chat)
  vim.cmd('XcshPrompt and now?')
  wait('the second turn', function()
    return #user_messages(chat) == 2
  end)
  settled(chat)
  eq(-1, vim.fn.bufwinid('xcsh://answer'))
end)

case('attached lines are sent with the next prompt only', function()
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
  harness.message('^Only lines of a file can be attached%.$')
end)
