-- The Neovim of the screens of an engine: the plugin, and a scripted server whose engine is pi.
-- play(NAME) lets it do something.

local screen = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
dofile(vim.fs.dirname(screen) .. '/init.lua')

local scripted = require('scripted')
local server = scripted.start(scripted.pi({ state = 'known' }))
server.answers['xcsh.commands'] = {
  commands = {
    { name = 'review', description = 'Review the changes', source = 'prompt' },
    { name = 'release', description = 'Prepare a release\27', source = 'extension' },
    { name = 'skill:pdf', description = 'Read PDF files', source = 'skill' },
  },
}
server.answers['xcsh.engines'] = {
  current = 'pi',
  engines = {
    { name = 'own', state = 'available', usable = true },
    {
      name = 'pi',
      version = '1.5.2',
      path = '/usr/local/bin/pi',
      state = 'current',
      usable = true,
    },
    { name = 'omp', state = 'unusable', usable = false, problem = 'omp is not installed.' },
  },
}
server.answers['xcsh.setEngine'] = scripted.pi({ state = 'known' })
server.holds['xcsh.prompt'] = true

---@param message table
local function say(message, id)
  server:event({ type = 'message_start', message = message })
  server:event({ type = 'message_end', message = message, entryId = id })
end

local plays = {
  start = function()
    server:event({ type = 'agent_start' })
    server:engine(scripted.pi({ state = 'starting' }))
  end,
  answer = function()
    server:engine(scripted.pi())
    server:engine(scripted.pi({ state = 'running' }))
    say({ role = 'user', content = 'deploy it' }, 'a')
    server:event({ type = 'engine_status', key = 'git', lines = { 'main · 2 changes\27[7m' } })
    server:event({
      type = 'question_asked',
      id = 'q1',
      method = 'confirm',
      title = 'Deploy?',
      message = 'This replaces \27[1mproduction.',
    })
    server:event({
      type = 'question_asked',
      id = 'q2',
      method = 'editor',
      title = 'Release notes',
      prefill = '# Changes\n\n- none\27',
    })
  end,
  gone = function()
    server:event({ type = 'question_gone', id = 'q1' })
  end,
  done = function()
    server:event({ type = 'question_gone', id = 'q2' })
    say({ role = 'assistant', model = 'claude-opus', content = 'Deployed.' }, 'b')
  end,
  crash = function()
    server:engine(
      scripted.pi({
        state = 'failed',
        message = 'pi ended with status 1: Model "x" not found.',
      }),
      {
        details = 'Loading extensions …\n\27[31mError: Model "x" not found.',
        actions = {
          {
            title = 'Start Again',
            command = 'xcsh.setEngine',
            arguments = { engine = 'pi' },
          },
          {
            title = 'Use xcsh-ls',
            command = 'xcsh.setEngine',
            arguments = { engine = 'own' },
          },
        },
      }
    )
    server:event({
      type = 'agent_end',
      stopReason = 'error',
      errorMessage = '',
      unanswered = { 'and test it' },
    })
  end,
}

---@param name string
function _G.play(name)
  plays[name]()
  return 0
end

vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'FI'
vim.o.termguicolors = vim.env.COLORTERM == 'truecolor'
