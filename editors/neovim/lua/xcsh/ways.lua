-- The ways to get an answer, if there is no model or no key: an installed agent, a server on this
-- machine, a service and its key, and at last the demo. :XcshLogin, and a prompt that was refused.

local client = require('xcsh.client')
local select = require('xcsh.pickers.select')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Services without a key that are listed first. The others are in a list of their own.
local known_services = 6

---Reports whether an error means that no model can answer.
---@param err xcsh.Error
function M.lacks(err)
  local reason = wire.str(wire.tbl(err.data).reason)
  return reason == 'noModel' or reason == 'noKey' or reason == 'unknownModel'
end

---@class xcsh.Way
---@field says string
---@field open fun()

---@class xcsh.WaysQuestion
---@field cwd string
---@field message? string why the user has to choose
---@field engine? string an engine of this name is enough
---@field done? fun(ready: boolean) called once; false if the user canceled

---@param question xcsh.WaysQuestion
---@param ready boolean
local function finish(question, ready)
  if question.done then
    question.done(ready)
  end
end

---Runs a command that makes something ready, and shows its result.
---@param question xcsh.WaysQuestion
---@param name string
---@param args table<string, any>
local function run(question, name, args)
  args.cwd = question.cwd
  client.execute(name, args, function(err, result)
    if err then
      view.error(err)
      return finish(question, false)
    end
    require('xcsh.results').show(name, result, false, question.cwd, nil, args)
    finish(question, true)
  end)
end

---Uses a model of a provider: its default, or one that the user selects.
---@param question xcsh.WaysQuestion
---@param provider table xcsh.wire.Source
local function use(question, provider)
  local default = wire.str(provider.default)
  if default ~= '' then
    return run(question, 'xcsh.setModel', { model = default })
  end
  client.execute('xcsh.models', { cwd = question.cwd }, function(err, result)
    if err then
      view.error(err)
      return finish(question, false)
    end
    local models = vim.tbl_filter(function(model)
      return wire.tbl(model).provider == provider.id
    end, wire.tbl(result.models))
    local prompt = 'Model of ' .. text.one_line(wire.str(provider.name), 60)
    require('xcsh.pickers.models').choose(prompt, models, function(_, model)
      if not model then
        return finish(question, false)
      end
      run(question, 'xcsh.setModel', { model = model })
    end)
  end)
end

---Asks for the key of a service, stores it, and uses the service.
---@param question xcsh.WaysQuestion
---@param provider table xcsh.wire.Source
---@param auth_file string
local function enter_key(question, provider, auth_file)
  require('xcsh.secret').store({
    cwd = question.cwd,
    provider = provider.id,
    name = wire.str(provider.name),
    key_page = wire.str(provider.keyPage),
    auth_file = auth_file,
  }, function(err, result)
    if err then
      view.error(err)
    elseif result then
      view.notify('Key stored in ' .. text.one_line(wire.str(result.stored), 300))
      return use(question, vim.tbl_extend('force', provider, { default = result.default }))
    end
    finish(question, false)
  end)
end

---@type table<string, string>
local sources = {
  client = 'key of this editor',
  authFile = 'key in auth.json',
  modelsFile = 'key in models.json',
  environment = 'key from the environment',
}

---Returns what the user reads about a provider that is ready to use.
---@param provider table xcsh.wire.Source
---@return string
local function ready_line(provider)
  local count = wire.num(provider.models)
  local parts = { 'Use ' .. text.one_line(wire.str(provider.name), 60) }
  parts[#parts + 1] = ('%d model%s'):format(count, count == 1 and '' or 's')
  parts[#parts + 1] = provider.kind == 'local' and 'on this machine' or sources[provider.keySource]
  return table.concat(parts, ' · ')
end

---@param question xcsh.WaysQuestion
---@param provider table xcsh.wire.Source
---@param auth_file string
---@return xcsh.Way
local function way_of(question, provider, auth_file)
  local name = text.one_line(wire.str(provider.name), 60)
  if provider.kind == 'demo' then
    return {
      says = 'Try the offline demo (scripted answers, no AI)',
      open = function()
        use(question, provider)
      end,
    }
  elseif provider.ready == true or provider.kind == 'local' then
    return {
      says = ready_line(provider),
      open = function()
        use(question, provider)
      end,
    }
  end
  return {
    says = ('Enter API key for %s…'):format(name),
    open = function()
      enter_key(question, provider, auth_file)
    end,
  }
end

---@param question xcsh.WaysQuestion
---@param ways xcsh.Way[]
---@param prompt string
local function choose(question, ways, prompt)
  vim.cmd.redraw() -- clears the list before
  select.choose(ways, {
    prompt = prompt,
    kind = 'xcsh.way',
    format_item = function(way)
      return way.says
    end,
  }, function(way)
    if way then
      return way.open()
    end
    finish(question, false)
  end)
end

---@param question xcsh.WaysQuestion
---@param engines any
---@return xcsh.Way[]
local function engine_ways(question, engines)
  local ways = {}
  for _, item in ipairs(wire.tbl(engines)) do
    item = wire.tbl(item)
    local name = wire.str(item.name)
    local is_own = name == require('xcsh.engine').own
    if not is_own and item.usable == true and item.state == 'current' then
      ways[#ways + 1] = {
        says = ('Log in to %s in a terminal'):format(require('xcsh.engine').label(item)),
        open = function()
          require('xcsh.commands').run('xcsh.login', { cwd = question.cwd, engine = name })
          finish(question, false)
        end,
      }
    elseif not is_own and name ~= '' and item.usable == true then
      ways[#ways + 1] = {
        says = 'Use ' .. require('xcsh.engines').line(item),
        open = function()
          run(question, 'xcsh.setEngine', { engine = name, remember = true })
        end,
      }
    end
  end
  return ways
end

---Returns the providers of a result, whose shape is not trusted.
---@param result any
---@return table[]
local function providers_of(result)
  return vim.tbl_filter(function(provider)
    return wire.str(wire.tbl(provider).id) ~= ''
  end, wire.tbl(wire.tbl(result).providers))
end

---Returns all ways, the nearest first.
---@param question xcsh.WaysQuestion
---@param found { engines: any, providers: any }
---@return xcsh.Way[]
local function ways_of(question, found)
  local ways = engine_ways(question, wire.tbl(found.engines).engines)
  local auth_file = wire.str(wire.tbl(found.providers).authFile)
  local demo, keyless, all = {}, {}, providers_of(found.providers)
  for _, provider in ipairs(all) do
    local way = way_of(question, provider, auth_file)
    if provider.kind == 'demo' then
      demo[#demo + 1] = way
    elseif provider.ready == true then
      ways[#ways + 1] = way
    elseif provider.kind == 'service' and auth_file ~= '' then
      keyless[#keyless + 1] = way
    end
  end
  vim.list_extend(ways, vim.list_slice(keyless, 1, known_services))
  if #keyless > known_services then
    ways[#ways + 1] = {
      says = 'Other services…',
      open = function()
        choose(question, vim.list_slice(keyless, known_services + 1), 'Choose a service')
      end,
    }
  end
  return vim.list_extend(ways, demo)
end

---Requests the engines and the providers.
---@param cwd string
---@param callback fun(err: xcsh.Error?, found: { engines: any, providers: any })
local function fetch(cwd, callback)
  -- Engines are optional: a server that cannot list them still has providers.
  client.execute('xcsh.engines', { cwd = cwd }, function(_, engines)
    client.execute('xcsh.providers', { cwd = cwd }, function(err, providers)
      callback(err, { engines = engines, providers = providers })
    end)
  end)
end

---@param question xcsh.WaysQuestion
---@param intent xcsh.Intent
---@param open fun(found: { engines: any, providers: any })
local function with_ways(question, intent, open)
  fetch(question.cwd, function(err, found)
    intent:finish()
    if err and not question.engine then
      view.error(err)
      return finish(question, false)
    end
    local function show()
      open(found)
    end
    if intent:still() then
      return show()
    end
    require('xcsh.waiting').add({
      kind = 'question',
      cwd = question.cwd,
      says = question.message or 'Choose a model to start.',
      open = show,
      once = true,
    })
  end)
end

---Offers the ways to get a model that can answer.
---@param question xcsh.WaysQuestion
---@param intent? xcsh.Intent of the user's command
function M.offer(question, intent)
  with_ways(question, intent or require('xcsh.intent').begin(), function(found)
    local message = text.one_line(question.message or 'Choose a model to start.', 300)
    choose(question, ways_of(question, found), message)
  end)
end

---Returns the provider with an ID or a name.
---@param found any
---@param name string
local function provider_named(found, name)
  for _, provider in ipairs(providers_of(found)) do
    if provider.id == name or wire.str(provider.name):lower() == name:lower() then
      return provider
    end
  end
end

---:XcshLogin [{engine} | {provider}]
---@param name string
function M.login(name)
  local question = { cwd = require('xcsh.config').root(), message = 'Choose what answers' }
  question.engine = name ~= '' and name or nil
  if name == '' then
    return M.offer(question)
  end
  with_ways(question, require('xcsh.intent').begin(), function(found)
    local provider = provider_named(found.providers, name)
    if not provider then
      return require('xcsh.commands').run('xcsh.login', { cwd = question.cwd, engine = name })
    elseif provider.kind == 'service' then
      return enter_key(question, provider, wire.str(found.providers.authFile))
    end
    use(question, provider)
  end)
end

---:XcshSetKey [{provider}]
---@param name string
function M.set_key(name)
  if name ~= '' then
    return M.login(name)
  end
  local question = { cwd = require('xcsh.config').root(), message = 'Choose a service' }
  with_ways(question, require('xcsh.intent').begin(), function(found)
    local auth_file, ways = wire.str(found.providers.authFile), {}
    for _, provider in ipairs(providers_of(found.providers)) do
      if provider.kind == 'service' then
        ways[#ways + 1] = {
          says = text.one_line(wire.str(provider.name), 60),
          open = function()
            enter_key(question, provider, auth_file)
          end,
        }
      end
    end
    choose(question, ways, question.message)
  end)
end

return M
