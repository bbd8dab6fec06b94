-- Choosing an engine, logging in to it, and the list of :checkhealth.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, wait = runner.case, runner.eq, runner.wait
local open, send, wait_for, prompt_text = chats.open, chats.send, chats.wait_for, chats.prompt_text

local items = {
  { name = 'own', state = 'current', usable = true },
  { name = 'pi', version = '1.5.2', path = '/opt/p\27i', state = 'available', usable = true },
  {
    name = 'omp',
    version = '17.0.0',
    path = '/opt/omp',
    state = 'unusable',
    usable = false,
    problem = 'omp 17.0.0 is too old.\n18 is needed.',
  },
  'text',
}

---@param offer? table
local function start(offer)
  local server = scripted.start({ name = 'own', state = 'ready', can = scripted.pi_can })
  server.answers['xcsh.engines'] = { engines = items, current = 'own', offer = offer }
  server.answers['xcsh.setEngine'] = function(args)
    return nil, scripted.pi({ name = args.engine, state = 'known' })
  end
  return server
end

local offer = { engine = 'pi', text = 'pi 1.5.2 is installed. Use it for your sessions?' }

case(':XcshEngines lists the engines, and the choice is used', function()
  local server = start()
  harness.answer('pi 1.5.2')
  vim.cmd('XcshEngines')
  eq({ { engine = 'pi' } }, server:wait_for('xcsh.setEngine'))
  eq({
    'xcsh-ls · current',
    'pi 1.5.2 · /opt/p␛i',
    'omp 17.0.0 · omp 17.0.0 is too old. 18 is needed. · /opt/omp',
    '? · cannot be used',
  }, harness.asked[1].lines)
  harness.message('^pi 1%.5%.2 answers in this folder from the next prompt on%.$')
end)

case('an engine that cannot be used is not chosen, and the reason is shown', function()
  local server = start()
  harness.answer('omp')
  vim.cmd('XcshEngines')
  local note = harness.message('too old')
  eq(vim.log.levels.ERROR, note.level)
  eq({}, server:args('xcsh.setEngine'))
end)

case('the engines that cannot be listed are an error', function()
  local server = start()
  server.answers['xcsh.engines'] = function()
    return { code = -32000, message = 'The workspace is restricted.', data = { kind = 'denied' } }
  end
  vim.cmd('XcshEngines')
  harness.message('^The workspace is restricted%.$')
end)

for answer, args in pairs({
  ['Use pi'] = { engine = 'pi', remember = true },
  ['Never ask'] = { engine = 'own', remember = true },
}) do
  case(('the only program that was found is offered: %s'):format(answer), function()
    local server = start(offer)
    harness.answer(answer)
    vim.cmd('XcshEngines')
    eq({ args }, server:wait_for('xcsh.setEngine'))
    eq(offer.text .. ' ', harness.asked[1].prompt)
    eq({ 'Use pi', 'Not now', 'Never ask' }, harness.asked[1].lines)
  end)
end

case('a refused prompt comes back, and the ways to continue are offered', function()
  local server = start()
  local use = { title = 'Use pi', command = 'xcsh.setEngine', arguments = { engine = 'pi' } }
  server.answers['xcsh.prompt'] = function()
    local data = { kind = 'provider', actions = { use } }
    return { code = -32000, message = 'No model is chosen.', data = data }
  end
  local chat = open()
  send(chat, 'hello')
  wait_for(chat, '✗ No model is chosen')
  harness.message('Pending %(:XcshApprovals%): No model is chosen')
  eq('hello', prompt_text(chat))
  eq('question pending · :XcshApprovals', require('xcsh.chat.windows').bar('input'))
  harness.answer('Use pi')
  vim.api.nvim_set_current_win(chats.window_of(chat.bufnr))
  chats.press('E')
  eq({ { engine = 'pi' } }, server:wait_for('xcsh.setEngine'))

  -- The choices of an event are not offered twice.
  server:event({ type = 'agent_start' })
  server:event({ type = 'agent_end', stopReason = 'error', errorMessage = 'x', actions = { use } })
  vim.cmd('XcshPrompt hello')
  server:wait_for('xcsh.prompt', 2)
  eq(1, require('xcsh.waiting').count())
end)

case(':XcshSetEngine asks for the engine, and whether to fork', function()
  local server = start()
  server.answers['xcsh.setEngine'] = function(args)
    if not args.engine then
      local data = { kind = 'argumentNeeded', field = 'engine', input = 'engine' }
      return { code = -32000, message = 'Select an engine', data = data }
    elseif args.fork == nil then
      local data = { kind = 'argumentNeeded', field = 'fork', input = 'text' }
      return { code = -32000, message = 'pi cannot read this session.', data = data }
    end
    return nil, scripted.pi({ state = 'known' })
  end
  harness.answer('pi 1.5.2')
  harness.answer('Fork')
  vim.cmd('XcshSetEngine')
  eq({ engine = 'pi', fork = true }, server:wait_for('xcsh.setEngine', 3)[3])
  eq('pi cannot read this session. ', harness.asked[2].prompt)

  harness.answer('Cancel')
  vim.cmd('XcshSetEngine pi')
  harness.message('^Canceled%.$')
  eq(4, #server:args('xcsh.setEngine'))
end)

case('the lists of engines and commands are buffers', function()
  local server = start()
  vim.cmd('Xcsh engines')
  wait('the engines', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://engines'
  end)
  eq('pi 1.5.2 · /opt/p␛i', vim.fn.getline(2))
  server.answers['xcsh.commands'] = { commands = { { name = 're\27view', description = 'x' } } }
  vim.cmd('Xcsh commands')
  wait('the commands', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://commands'
  end)
  eq({ '/re␛view · x' }, vim.fn.getline(1, '$'))
  server.answers['xcsh.commands'] = { commands = vim.NIL }
  vim.cmd('Xcsh commands')
  harness.message('^The engine has no commands%.$')
end)

case(':XcshLogin runs the command in a terminal', function()
  local server = start()
  local command = { 'sh', '-c', 'echo "log in here: $1"; exec cat', 'sh', 'now' }
  server.answers['xcsh.login'] = {
    engine = 'pi',
    command = command,
    message = 'Say /login.\27',
  }
  vim.cmd('XcshLogin pi')
  eq({ { engine = 'pi' } }, server:wait_for('xcsh.login'))
  wait('the terminal', function()
    return vim.bo.buftype == 'terminal'
      and table.concat(vim.fn.getline(1, '$'), '\n'):find('log in here: now', 1, true)
  end)
  harness.message('^Say /login%.␛$')
  vim.fn.jobstop(vim.bo.channel)
end)

case('a login that cannot be started is reported', function()
  local server = start()
  server.answers['xcsh.login'] = { engine = 'pi', command = { '/nowhere/pi' }, message = 'Run pi.' }
  local buffers = #vim.api.nvim_list_bufs()
  vim.cmd('XcshLogin pi')
  harness.message('^Couldn\'t start "/nowhere/pi"%. Run pi%.$')
  eq(buffers, #vim.api.nvim_list_bufs())
  server.answers['xcsh.login'] = { engine = 'x', command = vim.NIL, message = 'Run x login.' }
  vim.cmd('XcshLogin pi')
  harness.message('^Run x login%.$')
end)

case('a login that comes late opens no window', function()
  local server = start()
  server.holds['xcsh.login'] = true
  server.answers['xcsh.login'] = { engine = 'pi', command = { 'cat' }, message = 'Say /login.' }
  vim.cmd('XcshLogin pi')
  server:wait_for('xcsh.login')
  vim.api.nvim_feedkeys('l', 'xt', false)
  server:release()
  harness.message('^Pending %(:XcshReview%): the terminal to log in')
  eq('', vim.bo.buftype)
end)

case(':checkhealth lists the engines, or says why it cannot', function()
  local server = start()
  local health, reported = vim.health, {}
  vim.health = setmetatable({}, {
    __index = function(_, level)
      return function(message)
        table.insert(reported, level .. ': ' .. message)
      end
    end,
  })
  local list = require('xcsh.health').engines
  local ok, problem = pcall(function()
    list()
    server.answers['xcsh.engines'] = function()
      return { code = -32000, message = 'The workspace is restricted.' }
    end
    list()
  end)
  vim.health = health
  eq({ true }, { ok, problem })
  eq({
    'ok: xcsh-ls · current',
    'ok: pi 1.5.2 · /opt/p␛i',
    'info: omp 17.0.0 · omp 17.0.0 is too old. 18 is needed. · /opt/omp',
    'info: ? · cannot be used',
    'warn: The workspace is restricted.',
  }, reported)
end)
