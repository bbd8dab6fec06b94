-- Asks the user for missing arguments: one function per kind of input, none per command. All of
-- them use vim.ui, which users can replace.

local client = require('xcsh.client')
local wire = require('xcsh.wire')

local M = {}

---The message when the user cancels.
---@type table<xcsh.Input, string>
M.cancelled = {
  session = 'No session selected.',
  entry = 'No message selected.',
  path = 'No file selected.',
  text = 'Nothing entered.',
  model = 'No model selected.',
  engine = 'No engine selected.',
  fork = 'Canceled.',
  provider = 'No service selected.',
  secret = 'No key entered.',
}

---@class xcsh.Question
---@field spec xcsh.Command
---@field args table<string, any> the arguments so far
---@field choices? any[] the choices, if the server sent some
---@field text? string the question in the server's words

---@alias xcsh.Answer fun(err: xcsh.Error?, value: any)

---@param session xcsh.SessionInfo
---@return string
function M.session_line(session)
  return require('xcsh.pickers.sessions').line(session)
end

---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_session(question, answer)
  require('xcsh.pickers.sessions').choose({
    prompt = question.spec.title,
    cwd = question.args.cwd,
    scope = question.args.scope,
    sessions = question.choices,
    -- A list that only fills in an argument has no actions.
    actions = question.spec.name == 'xcsh.resume',
  }, answer)
end

---Fetches the choices, and offers them if the user is still waiting.
---@param question xcsh.Question
---@param answer xcsh.Answer
---@param name string
---@param args table<string, any>
---@param offer fun(result: any)
local function fetch(question, answer, name, args, offer)
  local intent = require('xcsh.intent').begin()
  client.execute(name, args, function(err, result)
    intent:finish()
    if err then
      return answer(err)
    end
    intent:show(question.args.cwd, question.spec.title, function()
      offer(result)
    end)
  end)
end

---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_entry(question, answer)
  require('xcsh.pickers.entries').choose({
    prompt = question.spec.title,
    subject = { cwd = question.args.cwd, source = question.args.source },
    answer = answer,
  })
end

---@param node xcsh.TreeNode
function M.entry_line(node)
  return require('xcsh.pickers.entries').line(node)
end

---@param model xcsh.Model
function M.model_line(model)
  return require('xcsh.pickers.models').line(model)
end

---Asks for a model: those that are ready to use, and all others on request.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_model(question, answer)
  local args = { cwd = question.args.cwd }
  fetch(question, answer, 'xcsh.models', args, function(result)
    require('xcsh.pickers.models').choose(question.spec.title, wire.tbl(result.models), answer)
  end)
end

---Asks for an engine. One that cannot be used is listed with the reason.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_engine(question, answer)
  local args = { cwd = question.args.cwd }
  fetch(question, answer, 'xcsh.engines', args, function(result)
    require('xcsh.engines').choose(result.engines, question.spec.title, answer)
  end)
end

---Asks for one of the values that the server listed.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_choice(question, answer)
  vim.ui.select(question.choices, {
    prompt = question.spec.title,
    kind = 'xcsh.choice',
    format_item = function(choice)
      return type(choice) == 'string' and require('xcsh.labels').choice(choice) or tostring(choice)
    end,
  }, function(choice)
    answer(nil, choice)
  end)
end

---Asks whether to continue in a copy of the session, which another engine can read.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_fork(question, answer)
  vim.ui.select({ 'Fork the session', 'Cancel' }, {
    prompt = require('xcsh.text').one_line(question.text or '', 400) .. ' ',
    kind = 'xcsh.question',
  }, function(_, index)
    answer(nil, index == 1 or nil)
  end)
end

---Asks for the provider of a key.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_provider(question, answer)
  local providers = vim.tbl_filter(function(provider)
    return wire.str(wire.tbl(provider).id) ~= ''
  end, wire.tbl(question.choices))
  require('xcsh.pickers.select').choose(providers, {
    prompt = question.spec.title,
    kind = 'xcsh.provider',
    format_item = function(provider)
      return require('xcsh.text').one_line(wire.str(provider.name), 60)
    end,
  }, function(provider)
    answer(nil, provider and provider.id)
  end)
end

---Asks for a key of the provider in the arguments.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_secret(question, answer)
  local args = question.args
  fetch(question, answer, 'xcsh.providers', { cwd = args.cwd }, function(result)
    local provider = vim.iter(wire.tbl(result.providers)):find(function(found)
      return wire.tbl(found).id == args.provider
    end) or {}
    require('xcsh.secret').ask({
      cwd = args.cwd,
      provider = args.provider,
      name = wire.str(provider.name),
      key_page = wire.str(provider.keyPage),
      auth_file = wire.str(result.authFile),
    }, function(key)
      answer(nil, key)
    end)
  end)
end

---@param completion? string
local function ask_line(completion)
  ---@param question xcsh.Question
  ---@param answer xcsh.Answer
  return function(question, answer)
    local prompt = question.spec.title:gsub('…$', '') .. ': '
    vim.ui.input({ prompt = prompt, completion = completion }, function(text)
      answer(nil, text ~= '' and text or nil)
    end)
  end
end

---@type table<xcsh.Input, fun(question: xcsh.Question, answer: xcsh.Answer)>
local kinds = {
  session = ask_session,
  entry = ask_entry,
  path = ask_line('file'),
  text = ask_line(),
  model = ask_model,
  engine = ask_engine,
  fork = ask_fork,
  provider = ask_provider,
  secret = ask_secret,
}

---Asks for one input; the answer's value is nil if the user closed the question.
---@param kind xcsh.Input
---@param question xcsh.Question
---@param answer xcsh.Answer
function M.ask(kind, question, answer)
  local ask = kinds[kind]
  if question.spec.arg == 'trashed' then
    ask = require('xcsh.pickers.trash').choose
  elseif kind == 'text' and question.choices and #question.choices > 0 then
    ask = ask_choice
  end
  if not ask then
    return answer({ message = ('%s needs an argument.'):format(question.spec.name) })
  end
  ask(question, answer)
end

return M
