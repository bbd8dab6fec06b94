-- The way in: a prompt without a model, :XcshLogin, and keys.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local key = 'sk-made-up-key-of-a-user'

local service ---@type Service

---A home without a key, in which the service of the test plays DeepSeek: it is the proxy of a host
---that does not exist, because a server on this machine would need no key.
---@param replies Answer[]
local function keyless(replies)
  service = require('service').listen(replies)
  vim.env.HTTP_PROXY = ('http://127.0.0.1:%d'):format(service.server:getsockname().port)
  local file = { providers = { deepseek = { baseUrl = 'http://models.test' } } }
  vim.fn.writefile({ vim.json.encode(file) }, harness.folder('.xcsh/agent') .. '/models.json')
end

---Types a key when it is asked for.
---@param typed string|fun(): string
---@return { prompts: string[] }
local function types_key(typed)
  local asked = { prompts = {} }
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.fn.inputsecret = function(prompt)
    table.insert(asked.prompts, prompt)
    return type(typed) == 'function' and typed() or typed
  end
  return asked
end

local function auth()
  local path = harness.folder('.xcsh/agent') .. '/auth.json'
  return vim.uv.fs_stat(path) and table.concat(vim.fn.readfile(path), '\n') or ''
end

---@param name string
---@param body fun()
local function test(name, body)
  case(name, function()
    local ok, problem = xpcall(body, debug.traceback)
    rawset(vim.fn, 'inputsecret', nil)
    vim.env.HTTP_PROXY = nil
    if service then
      service:close()
    end
    if not ok then
      error(problem, 0)
    end
  end)
end

test('a prompt without a model waits for a key, and is sent once with its lines', function()
  keyless({ { text = 'Hello.' } })
  local asked = types_key(key)
  vim.cmd.edit(chats.file('a.txt', { 'one', 'two' }))
  local chat = chats.open()
  chats.wait_for(chat, 'Choose a model to start%. Press E')
  harness.answer('Enter API key for DeepSeek')
  harness.answer('Enter the key')
  require('xcsh.chat.input').attach(chat, {
    uri = vim.uri_from_fname(vim.fn.getcwd() .. '/a.txt'),
    range = { start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 3 } },
    label = 'a.txt:1-1',
  })
  chats.send(chat, 'what is it?')
  chats.wait_for(chat, 'Hello%.')
  chats.settled(chat)
  eq('', chats.prompt_text(chat))
  eq(1, #service.requests)
  eq({ key }, service.keys)
  local messages = chats.user_messages(chat)
  eq(1, #messages)
  like('what is it%?$', messages[1])
  like('one', messages[1])
  eq({ 'API key for DeepSeek: ' }, asked.prompts)
  like('It is stored in .*/%.xcsh/agent/auth%.json', harness.asked[2].prompt)
  like('"deepseek".*' .. vim.pesc(key), auth())
  eq(nil, chats.text_of(chat):find('Choose a model', 1, true))
end)

test('the ways end with the demo, and local servers and services come before it', function()
  keyless({})
  local provider = service:provider()
  vim.fn.writefile(
    { vim.json.encode({ providers = { ['local'] = provider, other = provider } }) },
    harness.folder('.xcsh/agent') .. '/models.json'
  )
  harness.close_question()
  vim.cmd('XcshLogin')
  wait('the ways', function()
    return harness.asked[1]
  end)
  local lines = harness.asked[1].lines
  like('^Use ', lines[1])
  like('^Use ', lines[2])
  like('^Enter API key for ', lines[3])
  eq('Other services…', lines[#lines - 1])
  like('^Try the offline demo', lines[#lines])
end)

test('a prompt is not lost if the user cancels, and is not sent later', function()
  keyless({})
  local chat = chats.open()
  harness.close_question()
  chats.send(chat, 'keep this')
  harness.message('still in the chat')
  eq('keep this', chats.prompt_text(chat))
  harness.execute('xcsh.setModel', { model = 'offline/demo' })
  wait('the model', function()
    return not chats.text_of(chat):find('Choose a model', 1, true)
  end)
  eq('keep this', chats.prompt_text(chat))
  eq({}, chats.user_messages(chat))
end)

test('a prompt that the user changes meanwhile is not sent', function()
  keyless({})
  local chat = chats.open()
  types_key(function()
    require('xcsh.chat.input').set(chat, 'something else')
    return key
  end)
  harness.answer('Enter API key for DeepSeek')
  harness.answer('Enter the key')
  chats.send(chat, 'first')
  wait('the key', function()
    return chat.choosing == false and chat.unsent == nil
  end)
  eq('something else', chats.prompt_text(chat))
  eq({}, chats.user_messages(chat))
  eq(0, #service.requests)
end)

test('the demo answers the waiting prompt', function()
  keyless({})
  local chat = chats.open()
  harness.answer('Try the offline demo')
  chats.send(chat, 'hello')
  wait('the prompt in the session', function()
    return #chats.user_messages(chat) == 1
  end)
  chats.settled(chat)
  eq('', chats.prompt_text(chat))
end)

test(':XcshPrompt is repeated when a model is ready', function()
  keyless({ { text = 'Yes.' } })
  types_key(key)
  harness.answer('Enter API key for DeepSeek')
  harness.answer('Enter the key')
  vim.cmd('XcshPrompt is it so?')
  wait('the answer', function()
    return #service.requests == 1
  end)
  wait('its buffer', function()
    return vim.fn.bufnr('xcsh://answer') ~= -1
  end)
end)

test('without a key nothing is stored: a canceled question, an empty line, and Ctrl-C', function()
  keyless({})
  harness.answer('Cancel')
  vim.cmd('XcshLogin deepseek')
  wait('the question', function()
    return #harness.asked == 1
  end)
  for _, typed in ipairs({
    '  ',
    function()
      error('Keyboard interrupt')
    end,
  }) do
    local asked = types_key(typed)
    harness.answer('Enter the key')
    vim.cmd('XcshLogin DeepSeek')
    wait('the question for the key', function()
      return #asked.prompts == 1
    end)
  end
  harness.execute('xcsh.state')
  eq('', auth())
end)

test('xcsh.setKey as an action of the server asks for the service and the key', function()
  keyless({})
  local asked = types_key(key)
  harness.answer('DeepSeek')
  harness.answer('Enter the key')
  require('xcsh.commands').run('xcsh.setKey', {})
  harness.message('^Key stored in ')
  eq({ 'API key for DeepSeek: ' }, asked.prompts)
  like(vim.pesc(key), auth())
  harness.execute('xcsh.setKey', { provider = 'deepseek', remove = true })
  eq(nil, auth():find(key, 1, true))
end)

test(
  'a login of another program is not overwritten, and the error does not contain the key',
  function()
    keyless({})
    local path = harness.folder('.xcsh/agent') .. '/auth.json'
    local before = '{"deepseek":{"type":"oauth","access":"a","refresh":"b","expires":1}}'
    vim.fn.writefile({ before }, path)
    types_key(key)
    harness.answer('Enter the key')
    vim.cmd('XcshLogin deepseek')
    local note = wait('the error', function()
      for _, note in ipairs(harness.notified) do
        if note.level == vim.log.levels.ERROR then
          return note
        end
      end
    end)
    eq(nil, note.message:find(key, 1, true))
    eq(before, auth())
  end
)

---Returns everything that the editor keeps and that a user or another program can read later.
local function traces()
  local kept = { vim.fn.execute('messages'), vim.inspect(harness.notified) }
  for _, name in ipairs({ 'cmd', 'search', 'expr', 'input', 'debug' }) do
    for i = 1, vim.fn.histnr(name) do
      kept[#kept + 1] = vim.fn.histget(name, i)
    end
  end
  for register in ('"0123456789abcdefghijklmnopqrstuvwxyz-.:/'):gmatch('.') do
    kept[#kept + 1] = vim.fn.getreg(register)
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    vim.list_extend(kept, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  end
  local shada = vim.fn.tempname()
  vim.cmd.wshada({ shada, bang = true })
  if vim.uv.fs_stat(shada) then
    kept[#kept + 1] = table.concat(vim.fn.readfile(shada, 'b'), '\n')
  end
  local log = require('vim.lsp.log').get_filename()
  if vim.uv.fs_stat(log) then
    vim.list_extend(kept, vim.fn.readfile(log))
  end
  return table.concat(kept, '\n')
end

test('a key is in no message, history, register, buffer or log, even with traces', function()
  keyless({ { text = 'Hello.' } })
  types_key(key)
  local log = require('vim.lsp.log')
  local level = log.get_level()
  log.set_level(vim.log.levels.TRACE)
  local chat = chats.open()
  harness.answer('Enter API key for DeepSeek')
  harness.answer('Enter the key')
  chats.send(chat, 'hello')
  chats.wait_for(chat, 'Hello%.')
  chats.settled(chat)
  eq(vim.log.levels.TRACE, log.get_level())
  log.set_level(level)
  local all = traces()
  like('workspace/executeCommand', all) -- the log is written
  eq(nil, all:find(key, 1, true))
end)

test('a key on the command line is refused, and removed from its history', function()
  keyless({})
  local line = ('Xcsh setKey provider=deepseek key=%s'):format(key)
  vim.fn.histadd('cmd', line)
  vim.cmd(line)
  harness.message('not entered on the command line')
  eq(nil, traces():find(key, 1, true))
  eq('', auth())
end)

test(':checkhealth names the next step', function()
  keyless({})
  vim.cmd('checkhealth xcsh')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('Choose a model to start%.', text)
  like('Next step: run :XcshLogin', text)
  harness.execute('xcsh.setModel', { model = 'offline/demo' })
  vim.cmd('checkhealth xcsh')
  text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('Next step: :XcshChat', text)
end)
