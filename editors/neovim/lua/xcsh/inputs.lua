-- Asks the person for what a command lacks: one function per kind of input, none
-- per command. All of them go through vim.ui, which people replace.

local client = require('xcsh.client')

local M = {}

---What is said when the person closes the question.
---@type table<xcsh.Input, string>
M.cancelled = {
  session = 'No session selected',
  entry = 'No entry selected',
  path = 'No file chosen',
  text = 'Nothing entered',
  model = 'No model selected',
}

---@class xcsh.Question
---@field spec xcsh.Command
---@field args table<string, any> what is known so far
---@field choices? any[] what to choose from, when the server said so

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
    -- A list that is asked for in passing offers nothing but its items.
    actions = question.spec.name == 'xcsh.resume',
  }, answer)
end

---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_entry(question, answer)
  local args = { cwd = question.args.cwd, source = question.args.source }
  client.execute('xcsh.tree', args, function(err, result)
    if err then
      return answer(err)
    end
    vim.ui.select(result.nodes, {
      prompt = question.spec.title,
      kind = 'xcsh.entry',
      format_item = M.entry_line,
    }, function(node)
      answer(nil, node and node.id)
    end)
  end)
end

---@param node xcsh.TreeNode
function M.entry_line(node)
  local role = type(node.role) == 'string' and node.role or node.type
  local label = type(node.label) == 'string' and (' [%s]'):format(node.label) or ''
  return ('%s: %s%s'):format(role, node.preview, label)
end

---@param model xcsh.Model
function M.model_line(model)
  local parts = { model.provider .. '/' .. model.id }
  if type(model.name) == 'string' and model.name ~= '' and model.name ~= model.id then
    parts[#parts + 1] = model.name
  end
  if not model.available then
    parts[#parts + 1] = 'no key'
  end
  return table.concat(parts, ' · ')
end

---The server lists the models that can be used now first.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_model(question, answer)
  client.execute('xcsh.models', { cwd = question.args.cwd }, function(err, result)
    if err then
      return answer(err)
    end
    vim.ui.select(result.models, {
      prompt = question.spec.title,
      kind = 'xcsh.model',
      format_item = M.model_line,
    }, function(model)
      answer(nil, model and (model.provider .. '/' .. model.id))
    end)
  end)
end

---One of a few words that the server named.
---@param question xcsh.Question
---@param answer xcsh.Answer
local function ask_choice(question, answer)
  vim.ui.select(question.choices, {
    prompt = question.spec.title,
    kind = 'xcsh.choice',
  }, function(choice)
    answer(nil, choice)
  end)
end

---@param completion? string
local function ask_line(completion)
  ---@param question xcsh.Question
  ---@param answer xcsh.Answer
  return function(question, answer)
    vim.ui.input({ prompt = question.spec.title .. ' ', completion = completion }, function(text)
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
}

---Asks for one input; the answer's value is nil when the person closed the question.
---@param kind xcsh.Input
---@param question xcsh.Question
---@param answer xcsh.Answer
function M.ask(kind, question, answer)
  local ask = kinds[kind]
  if kind == 'text' and question.choices and #question.choices > 0 then
    ask = ask_choice
  end
  if not ask then
    return answer({ message = ('%s needs an argument.'):format(question.spec.name) })
  end
  ask(question, answer)
end

return M
