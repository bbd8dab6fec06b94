-- The engine of a folder: what the chat shows of it, what is refused, and failures.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local open, text_of, wait_for, send = chats.open, chats.text_of, chats.wait_for, chats.send
local prompt_text, at, press, closed = chats.prompt_text, chats.at, chats.press, chats.closed

local function bar(chat)
  return require('xcsh.chat.windows').about(chat)
end

case('the bar of the chat shows the engine, its version and its state', function()
  local server = scripted.start(scripted.pi({ state = 'known' }))
  local chat = open()
  eq('work · pi 1.5.2 · claude-opus', bar(chat))
  server:engine(scripted.pi({ state = 'starting' }))
  wait_for(chat, '^… Starting pi 1%.5%.2\n')
  eq('work · pi 1.5.2 starting… · claude-opus', bar(chat))
  server:engine(scripted.pi())
  wait('the bar', function()
    return bar(chat) == 'work · pi 1.5.2 · claude-opus'
  end)
  server:engine({ name = 'own', state = 'ready', can = scripted.pi_can })
  wait('the bar without an engine', function()
    return bar(chat) == 'work · claude-opus'
  end)
end)

case('the model of an engine that has not started yet is not missing', function()
  local server = scripted.start(scripted.pi({ state = 'known' }))
  server.state.model = nil
  eq('work · pi 1.5.2', bar(open()))
end)

case('control characters of a name and a version are visible', function()
  scripted.start(scripted.pi({ name = 'p\27i\n', version = '1\226\128\1742' }))
  eq('work · p␛i  1<202e>2 · claude-opus', bar(open()))
end)

case('what the engine can do is requested again after it has started', function()
  local server = scripted.start(scripted.pi({ state = 'known', can = {} }))
  local chat = open()
  server.state.model = { provider = 'anthropic', id = 'claude-sonnet' }
  server:engine(scripted.pi({ state = 'starting', can = {} }))
  eq(0, #server:args('xcsh.state'))
  server:engine(scripted.pi())
  server:engine(scripted.pi({ state = 'running' }))
  wait('the state', function()
    return vim.deep_equal(scripted.pi_can, chat.state.session.engine.can)
  end)
  eq('work · pi 1.5.2 · claude-sonnet', bar(chat))
  -- A turn does not change it.
  server:engine(scripted.pi())
  server:engine(scripted.pi({ state = 'running' }))
  eq(1, #server:args('xcsh.state'))
end)

case('a state that arrives after another engine was chosen is not used', function()
  local server = scripted.start(scripted.pi({ state = 'known', can = {} }))
  local chat = open()
  server.holds['xcsh.state'] = true
  server.answers['xcsh.state'] = vim.deepcopy(server.state)
  server.answers['xcsh.state'].engine = scripted.pi()
  server:engine(scripted.pi({ state = 'starting' }))
  server:engine(scripted.pi())
  server:wait_for('xcsh.state')
  server:engine(scripted.pi({ name = 'omp' }))
  server:release()
  eq(nil, chat.state.session.engine.can)
  eq('work · omp 1.5.2 · claude-opus', bar(chat))
end)

---Starts an engine that can do nothing.
local function unable()
  local server = scripted.start(scripted.pi({ can = vim.empty_dict() }))
  return server, open()
end

case('what the engine cannot do is refused without asking the server', function()
  local server = unable()
  local refusals = {
    ['XcshSteer left'] = 'pi cannot be steered. Wait, or stop it first.',
    ['XcshBranch aaaaaaaa'] = 'pi cannot go back. Fork the session instead.',
    ['XcshCompact'] = 'pi does not compact a conversation on request.',
    ['XcshSetThinking'] = 'pi chooses its model itself.',
    ['XcshModel'] = 'pi chooses its model itself.',
    ['Xcsh prompt {"text":"x","images":[{"data":""}]}'] = 'pi takes no images.',
  }
  for command, sentence in pairs(refusals) do
    harness.notified = {}
    local before = #server.calls
    vim.cmd(command)
    eq({ { message = sentence, level = vim.log.levels.ERROR } }, harness.notified)
    eq(before, #server.calls)
  end
end)

case('nothing is refused while it is unknown what the engine can do', function()
  local server = scripted.start(scripted.pi({ state = 'known', can = vim.empty_dict() }))
  server.answers['xcsh.compact'] = { tokensBefore = 10 }
  open()
  vim.cmd('XcshCompact')
  server:wait_for('xcsh.compact')
  server:engine(scripted.pi({ state = 'starting' }))
  server:engine(scripted.pi({ name = 'omp' }))
  vim.cmd('XcshCompact')
  server:wait_for('xcsh.compact', 2)
end)

case('a message that cannot steer the turn stays in the prompt', function()
  local server, chat = unable()
  server.holds['xcsh.prompt'] = true
  send(chat, 'begin')
  server:wait_for('xcsh.prompt')
  server:event({ type = 'agent_start' })
  eq('<C-f> queue · <C-c> stop', require('xcsh.chat.windows').bar('input'))
  send(chat, 'go left', '<C-s>')
  wait_for(chat, '✗ pi cannot be steered%. Wait, or stop it first%.')
  eq('go left', prompt_text(chat))
  eq(1, #server:args('xcsh.prompt'))
  send(chat, 'go left', '<C-f>')
  server:wait_for('xcsh.prompt', 2)
  eq('followUp', server:args('xcsh.prompt')[2].streamingBehavior)
  eq('', prompt_text(chat))
end)

local retry = {
  title = 'Start Again',
  command = 'xcsh.setEngine',
  arguments = { engine = 'pi' },
}
local own = {
  title = 'Use xcsh-ls',
  command = 'xcsh.setEngine',
  arguments = { engine = 'own' },
}

---@param server Scripted
local function fail(server)
  server:engine(
    scripted.pi({ state = 'failed', message = 'pi ended.\27' }),
    { details = 'Error: no\27[7m\nat line 2', actions = { retry, own } }
  )
end

case('a failure shows the reason, the folded output, and ways to continue', function()
  local server = scripted.start()
  local chat = open()
  fail(server)
  wait_for(chat, '^✗ pi ended%.␛\n')
  like('\n⋯ Error output\n```\nError: no␛%[7m\nat line 2\n```\nPress E ', text_of(chat))
  eq('work · pi 1.5.2 failed · claude-opus', bar(chat))
  eq(4, closed(chat, '⋯ Error output'))
  -- It stays open while the chat changes.
  press('<CR>')
  eq(nil, closed(chat, '⋯ Error output'))
  server:event({ type = 'notice', text = 'Something else.' })
  wait_for(chat, 'Something else')
  eq(nil, closed(chat, '⋯ Error output'))
  -- The chat shows it, so it is not announced.
  eq({}, harness.notified)
  server.answers['xcsh.setEngine'] = scripted.pi({ state = 'known' })
  harness.answer('Start Again')
  press('E')
  eq({ { engine = 'pi' } }, server:wait_for('xcsh.setEngine'))
  eq({ 'Start Again', 'Use xcsh-ls' }, harness.asked[1].lines)
  server:engine(scripted.pi({ state = 'starting' }))
  wait('the end of the failure', function()
    return not text_of(chat):find('pi ended', 1, true)
  end)
  eq(0, require('xcsh.waiting').count())
end)

case('without the chat, a failure is announced, and its choices wait', function()
  local server = scripted.start()
  harness.execute('xcsh.state')
  fail(server)
  harness.message('Pending %(:XcshApprovals%): pi ended%.␛')
  eq({}, harness.asked)
  server.answers['xcsh.setEngine'] = { name = 'own', state = 'ready', can = scripted.pi_can }
  harness.answer('Use xcsh-ls')
  vim.cmd('XcshApprovals')
  eq({ { engine = 'own' } }, server:wait_for('xcsh.setEngine'))
  harness.message('^xcsh%-ls answers in this folder from the next prompt on%.$')
end)

case('a failure is announced when the chat that shows it is closed', function()
  local server = scripted.start()
  open()
  fail(server)
  eq({}, harness.notified)
  require('xcsh').toggle()
  harness.message('Pending %(:XcshApprovals%): pi ended')
end)

case('a prompt that the engine did not take comes back once, and so do queued messages', function()
  local server = scripted.start()
  local chat = open()
  server.holds['xcsh.prompt'] = true
  send(chat, 'hello')
  server:wait_for('xcsh.prompt')
  server:event({ type = 'agent_start' })
  fail(server)
  server.answers['xcsh.prompt'] = function()
    return { code = -32000, message = 'pi ended.', data = { kind = 'provider' } }
  end
  server:event({
    type = 'agent_end',
    stopReason = 'error',
    errorMessage = 'pi ended.',
    unanswered = { 'hello', 'and then?' },
  })
  eq('hello\n\nand then?', prompt_text(chat))
  server:release()
  wait_for(chat, '✗ pi ended%.\n')
  eq('hello\n\nand then?', prompt_text(chat))
end)

case('a prompt with attached lines comes back with them', function()
  local server = scripted.start()
  vim.cmd.edit(chats.file('a.txt', { 'one', 'two' }))
  vim.cmd('1,2XcshChat')
  local chat = open()
  server.answers['xcsh.prompt'] = function()
    server:event({ type = 'agent_start' })
    server:event({
      type = 'agent_end',
      stopReason = 'error',
      unanswered = { '<file path="a.txt" lines="1-2">\none\ntwo\n</file>\nwhat is that?' },
    })
    return { code = -32000, message = 'pi ended.', data = { kind = 'provider' } }
  end
  send(chat, 'what is that?')
  wait_for(chat, '✗ pi ended')
  eq('what is that?', prompt_text(chat))
  like('⎘ a.txt:1%-2 · <CR>', require('xcsh.chat.windows').bar('input'))
end)

case('the messages that a stop returns are put into the prompt once', function()
  local server = scripted.start()
  local chat = open()
  server:event({ type = 'agent_start' })
  server.answers['xcsh.abort'] = function()
    server:event({ type = 'agent_end', stopReason = 'aborted', unanswered = { 'later' } })
    return nil, { aborted = true, unanswered = { 'later' } }
  end
  press('<C-c>')
  wait('the message', function()
    return prompt_text(chat) == 'later'
  end)
end)

-- Another program requests permission beside the events of its turn, so at any place among them.
for place = 1, 4 do
  case(('a call asks if its permission is requested at place %d'):format(place), function()
    local server = scripted.start()
    local chat = open()
    local call = { type = 'toolCall', id = 'c', name = 'bash', arguments = { command = 'ls' } }
    local message = { role = 'assistant', model = 'm', content = { call } }
    local events = {
      { type = 'agent_start' },
      { type = 'message_start', message = { role = 'assistant', model = 'm' } },
      { type = 'message_end', message = message, entryId = 'a' },
      { type = 'tool_execution_start', toolCallId = 'c', toolName = 'bash' },
    }
    local prompt = { id = 'c', tool = 'bash', args = { command = 'ls' } }
    table.insert(events, place + 1, { type = 'approvals_changed', approvals = { prompt } })
    for _, event in ipairs(events) do
      server:event(event)
    end
    wait_for(chat, '\n%? bash ls\nAllow xcsh to')
    server:event({ type = 'approvals_changed', approvals = {} })
    wait_for(chat, '\n… bash ls\n')
  end)
end

case('texts of extensions are shown at the end, bounded, until they are removed', function()
  local server = scripted.start()
  local chat = open()
  server:event({ type = 'engine_status', key = 'k', lines = { 'one\27[7m', 'two' } })
  wait_for(chat, '\n│ one␛%[7m\n│ two\n$')
  local many = {}
  for i = 1, 100 do
    many[i] = 'line ' .. i
  end
  server:event({ type = 'engine_status', key = 'k', lines = many })
  wait_for(chat, '\n│ line 5\n$')
  eq(nil, text_of(chat):find('two', 1, true))
  for i = 1, 100 do
    server:event({ type = 'engine_status', key = 'other' .. i, lines = { 'other ' .. i } })
  end
  wait_for(chat, '\n│ other 9\n$')
  server:event({ type = 'engine_status', key = 'k' })
  wait('the end of the text', function()
    return not text_of(chat):find('line 1', 1, true)
  end)
  -- The next start begins without them.
  server:engine(scripted.pi({ state = 'known' }))
  wait('an empty foot', function()
    return not text_of(chat):find('│', 1, true)
  end)
end)

case('a notice is shown as a message if the chat is not visible', function()
  local server = scripted.start()
  harness.execute('xcsh.state')
  server:event({ type = 'notice', text = 'Extension x failed.\27' })
  harness.message('^Extension x failed%.␛$')
  local chat = open()
  harness.notified = {}
  server:event({ type = 'notice', text = 'Extension y failed.' })
  wait_for(chat, '· Extension y failed')
  eq({}, harness.notified)
  -- One with a level is a message of the server, too.
  require('xcsh').toggle()
  server:event({ type = 'notice', text = 'Extension z failed.', level = 'error' })
  wait_for(chat, '✗ Extension z failed')
  eq({}, harness.notified)
end)

case('a proposed prompt is taken into an empty prompt only', function()
  local server = scripted.start()
  local chat = open()
  server:event({ type = 'prefill', text = 'review\nthis\27' })
  eq('review\nthis␛', prompt_text(chat))
  server:event({ type = 'prefill', text = 'something else' })
  eq('review\nthis␛', prompt_text(chat))
  require('xcsh.chat.input').set(chat, '')
  server:event({ type = 'prefill', text = ('x'):rep(1e6) })
  eq(true, #prompt_text(chat) < 2e5)
end)

case('a hostile event changes nothing', function()
  local server = scripted.start()
  local chat = open()
  for _, event in ipairs({
    { type = 'engine_changed' },
    { type = 'engine_changed', engine = {}, state = {}, version = 1, actions = 'x', details = {} },
    { type = 'engine_changed', engine = 'pi', state = 'failed', actions = { 1, { title = 1 } } },
    { type = 'question_asked' },
    { type = 'question_asked', id = {}, method = {}, title = {}, options = 'x' },
    { type = 'question_asked', id = 'q', method = 'unknown', title = 'x' },
    { type = 'question_gone' },
    { type = 'engine_status' },
    { type = 'engine_status', key = 1, lines = { 1, {}, 'x' } },
    { type = 'prefill', text = {} },
    { type = 'notice', text = {} },
  }) do
    server:event(event)
  end
  server:engine(scripted.pi())
  wait('the bar', function()
    return bar(chat) == 'work · pi 1.5.2 · claude-opus'
  end)
  eq({}, require('xcsh.questions').pending(chat.cwd))
  at(chat, 'No messages yet')
end)
