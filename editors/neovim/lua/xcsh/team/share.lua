-- Consent to send conversations to the team store. The user sees the plan as the server words it.
-- Nothing is sent before an answer, and the token of a plan is used only for that plan.

local client = require('xcsh.client')
local select = require('xcsh.pickers.select')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---A plan that is stale each time is not asked about for ever.
local max_plans = 5

---The lines of a plan; the server's own are far fewer.
local max_lines = 100

---@class xcsh.Sharing
---@field args table<string, any> without a scope and a token
---@field scope string of the next plan
---@field plans integer how many became stale

---Calls the server, which can ask for the name of a project or for a team. done is not called after
---an error, which the user has seen.
---@param sharing xcsh.Sharing
---@param more table<string, any>
---@param done fun(result: table, intent: xcsh.Intent)
---@param failed? fun(err: xcsh.Error): boolean whether the error is dealt with
local function request(sharing, more, done, failed)
  local intent = require('xcsh.intent').begin()
  local args = vim.tbl_extend('force', sharing.args, more)
  client.execute('xcsh.team.share', args, function(err, result)
    intent:finish()
    if not err then
      return done(wire.tbl(result), intent)
    end
    local commands = require('xcsh.commands')
    local question = commands.question(commands.spec('xcsh.team.share'), sharing.args, err)
    if question then
      intent:show(sharing.args.cwd, text.one_line(err.message, 300), function()
        commands.ask(question, function()
          request(sharing, more, done, failed)
        end)
      end)
    elseif not (failed and failed(err)) then
      view.error(err)
    end
  end)
end

---@type table<string, string>
local done_texts = {
  new = 'From now on, the conversations of this project are sent to the team.',
  all = "This project's conversations are sent to the team, the older ones, too.",
  session = 'This session is sent to the team.',
  off = 'Nothing more is sent to the team. Sent sessions stay in the store.',
}

---@param result table
local function finished(result)
  view.notify(done_texts[wire.str(result.shared)] or 'Shared with the team.')
end

---@class xcsh.ShareAnswer
---@field scope? string nil: show examples, or decline
---@field examples? boolean
---@field says string

---Returns the answers to a plan: the one that it describes is first.
---@param scope string
---@param plan table
---@param with_examples boolean
---@return xcsh.ShareAnswer[]
local function answers(scope, plan, with_examples)
  local from_now = { scope = 'new', says = 'From now on' }
  local older = { scope = 'all', says = 'Also the older ones' }
  local list = { from_now }
  if scope == 'session' then
    list = { { scope = 'session', says = 'Share this session' } }
  elseif scope == 'all' then
    list = { older, from_now }
  elseif wire.num(plan.older) > 0 then
    list[2] = older
  end
  if with_examples then
    list[#list + 1] = { examples = true, says = 'Show what is replaced' }
  end
  list[#list + 1] = { says = 'Not now' }
  return list
end

---@param plan table
---@return string[]
local function example_lines(plan)
  local lines = vim.tbl_map(function(example)
    return '• ' .. text.one_line(example, 300)
  end, wire.texts(plan.examples))
  return #lines > 0 and lines or { 'Nothing that looks like a secret was found.' }
end

---Shows the text of a plan in a window, for a user whose vim.ui.select may truncate the question.
---@param lines string[]
---@return fun() close
local function show_plan(lines)
  if select.is_own() then
    return function() end
  end
  local bufnr = view.scratch('team', lines)
  return function()
    pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
  end
end

---Asks about a plan until the user has decided.
---@param scope string
---@param plan table
---@param decided fun(scope: string?) nil: the user does not agree
---@param examples? string[] after the user has asked for them
local function ask(scope, plan, decided, examples)
  local lines = text.whole(vim.trim(wire.str(plan.text)))
  if examples then
    lines[#lines + 1] = ''
    vim.list_extend(lines, examples)
  end
  if #lines > max_lines then
    lines = vim.list_slice(lines, 1, max_lines)
    lines[#lines + 1] = '…'
  end
  local close = show_plan(lines)
  vim.ui.select(answers(scope, plan, examples == nil), {
    prompt = table.concat(lines, '\n') .. ': ',
    kind = 'xcsh.question',
    format_item = function(answer)
      return answer.says
    end,
  }, function(answer)
    close()
    if answer and answer.examples then
      return ask(scope, plan, decided, example_lines(plan))
    end
    decided(answer and answer.scope)
  end)
end

local plan_and_ask ---@type fun(sharing: xcsh.Sharing)

---@param sharing xcsh.Sharing
---@param scope string
---@param plan table
local function carry_out(sharing, scope, plan)
  local more = { scope = scope, planToken = wire.str(plan.planToken) }
  if more.planToken == '' then
    return view.error({ message = "The server's plan cannot be carried out. Nothing was sent." })
  end
  request(sharing, more, finished, function(err)
    if wire.tbl(err.data).kind ~= 'stale' or sharing.plans >= max_plans then
      return false
    end
    sharing.plans, sharing.scope = sharing.plans + 1, scope
    view.notify('The plan has changed. Nothing was sent.')
    plan_and_ask(sharing)
    return true
  end)
end

---What the plan of another scope must have in common with the plan that the user has seen.
local same = { 'server', 'user', 'tls', 'team', 'project', 'readers' }

---@param a table
---@param b table
local function is_alike(a, b)
  return vim.iter(same):all(function(key)
    return vim.deep_equal(a[key], b[key])
  end)
end

---Carries out the answer to a plan. For another scope than that of the plan, a second plan is made;
---the user is asked again if it differs in more than its conversations.
---@param sharing xcsh.Sharing
---@param seen table
---@param scope string
local function agreed(sharing, seen, scope)
  if scope == sharing.scope then
    return carry_out(sharing, scope, seen)
  end
  request(sharing, { scope = scope }, function(plan, intent)
    sharing.scope = scope
    if is_alike(plan, seen) then
      return carry_out(sharing, scope, plan)
    end
    view.notify('The plan has changed. Nothing was sent.')
    M.ask_later(sharing, plan, intent)
  end)
end

---Asks about a plan once the user waits for it.
---@param sharing xcsh.Sharing
---@param plan table
---@param intent xcsh.Intent
function M.ask_later(sharing, plan, intent)
  intent:show(sharing.args.cwd, 'Share conversations with the team?', function()
    ask(sharing.scope, plan, function(scope)
      if not scope then
        return view.notify('Nothing was sent to the team.')
      end
      agreed(sharing, plan, scope)
    end)
  end)
end

function plan_and_ask(sharing)
  request(sharing, { scope = sharing.scope }, function(plan, intent)
    M.ask_later(sharing, plan, intent)
  end)
end

---Ends the sending, if the user agrees.
---@param sharing xcsh.Sharing
local function stop(sharing)
  local prompt = sharing.args.source and 'Stop sending this session to the team?'
    or "Stop sending this project's conversations to the team?"
  vim.ui.select({ 'Stop sharing', 'Cancel' }, {
    prompt = prompt .. ' ',
    kind = 'xcsh.choice',
  }, function(answer)
    if answer == 'Stop sharing' then
      request(sharing, { scope = 'off' }, finished)
    end
  end)
end

---:XcshTeam share [new|all|session [{session}]|off [{session}]]
---@param argument string
---@param cwd? string
function M.start(argument, cwd)
  local scope, source = argument:match('^(%S+)%s*(.*)$')
  local sharing = {
    args = { cwd = cwd or require('xcsh.config').root() },
    scope = scope or 'new',
    plans = 0,
  }
  if source and source ~= '' then
    sharing.args.source = source
  end
  if sharing.scope == 'off' then
    return stop(sharing)
  end
  plan_and_ask(sharing)
end

return M
